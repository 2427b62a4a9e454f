// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/run/checkpoint/run_state.h"
#include "trainer/train/session.h"

// A step that waits for its loss leaves an accelerator idle while the host prepares the next one.
// So several steps are started one after the other, assuming that all are finite, and their results
// are read together. If one of them was not finite, the state from before the first is restored,
// and the steps up to that one are run again, one by one, as on the CPU. Which steps are skipped,
// rolled back or repeated with a smaller loss scale, and the bits of all weights, do not depend on
// how many steps were started together.
namespace trainer::train {

/// Runs the steps of a session, several at a time without waiting in between.
class StepsAhead {
 public:
  /// Starts up to `max_length` steps together: enough to make the time for reading their results
  /// negligible, but no more than take `max_seconds`, so that progress and signals need not wait.
  explicit StepsAhead(int64_t max_length, double max_seconds = 0.1)
      : max_length_(max_length), max_seconds_(max_seconds) {}

  /// Runs the next steps of `session`, at least one and at most `most`, as run_step() does. Returns
  /// their results, which are valid until the next call; only the last one may be not finite. The
  /// caller must call advance() for each of them.
  const std::vector<StepStats>& run(Session& session, int64_t most);

 private:
  /// A copy of all that steps change, to restore it.
  class SavedState {
   public:
    void save(const Session& session);
    void restore(Session& session) const;
    void restore_run_state(Session& session) const;

   private:
    std::vector<at::Tensor> tensors_;  // on the device; empty before the first save()
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
  int64_t length_ = 1;      // the number of steps that are started together
  int64_t num_single_ = 0;  // the number of next steps that must be run one by one
  // The last of the num_single_ steps was not finite when it was started with others.
  bool is_doubted_ = false;
  bool has_room_ = true;  // SavedState fits into the memory of the device
};

}  // namespace trainer::train
