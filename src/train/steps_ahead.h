// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/checkpoint/run_state.h"
#include "trainer/train/session.h"

// A step that waits for its loss leaves an accelerator idle while the host prepares the next one.
// So several steps are started one after the other as if all went well, and their results are read
// together. If one of them was not finite, the state from before the first is brought back, and the
// steps up to that one are run again, each by itself, as on the CPU. What is skipped, rolled back
// or repeated with a smaller loss scale, and the bits of all weights, do not depend on how many
// steps were started together.
namespace trainer::train {

/// Runs the steps of a session, several without waiting in between.
class StepsAhead {
 public:
  /// Starts up to `max_length` steps together: as many as take so long that reading their results
  /// takes no part of the time, and at most `max_seconds`, so that progress and signals need not
  /// wait.
  explicit StepsAhead(int64_t max_length, double max_seconds = 0.1)
      : max_length_(max_length), max_seconds_(max_seconds) {}

  /// Runs the next steps of `session`, at least one and at most `most`, as run_step() does. Returns
  /// their results, until the next call; all are finite but for the last one. The caller advances
  /// the session by them.
  const std::vector<StepStats>& run(Session& session, int64_t most);

 private:
  /// What steps change.
  class SavedState {
   public:
    void save(const Session& session);
    void restore(Session& session) const;
    void restore_run_state(Session& session) const;

   private:
    std::vector<at::Tensor> tensors_;  // on the device; none before the first save()
    checkpoint::RunState run_state_;
    int64_t optimizer_step_ = 0;
    float grad_norm_ = 0;
  };

  bool run_together(Session& session, int64_t count);
  void choose_length(double seconds);

  int64_t max_length_;
  double max_seconds_;
  std::vector<StepStats> results_;
  SavedState saved_;
  int64_t length_ = 1;       // how many steps are started together
  int64_t num_single_ = 0;   // the next steps, which are run each by itself
  bool is_doubted_ = false;  // the last of these was not finite when it was started with others
  bool has_room_ = true;     // in the memory, for SavedState
};

}  // namespace trainer::train
