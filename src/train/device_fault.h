// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "trainer/base/time/stopwatch.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/torch/model/parameters.h"
#include "trainer/train/fit.h"

// Accelerators fail in ways that a CPU does not: they vanish in the middle of a run, with all that
// is in their memory, or compute wrong numbers.

namespace trainer::train {

/// A recent state of a run on an accelerator, copied to CPU memory.
class Backup {
 public:
  /// Copies the state between two steps, but only so often that copies take at most a fiftieth of
  /// the time. Does nothing on the CPU.
  void keep(const Session& session, const Output& output);

  /// Reports that the device has failed with `error`: writes the copy as last.pt unless last.pt is
  /// newer, and throws Error(kDevice), whose message says how to continue.
  [[noreturn]] void report_failure(const Session& session, Output& output,
                                   const std::exception& error);

 private:
  checkpoint::Checkpoint checkpoint_;
  Stopwatch since_;
  double copy_seconds_ = -1;  // duration of the last copy; below 0: there is none
};

/// Checks a step that was not finite, if it was in fp32 on an accelerator: if loss and gradient are
/// finite on the CPU, with the same weights and rows, saves the state and throws Error(kDevice).
void require_the_same_on_cpu(Session& session, Output& output, const StepStats& stats);

/// The tensor types that are accepted: kFloat32 for the state of a run, which must be exact;
/// kAnyFloat for weights of other programs, which are converted to float32.
enum class Accepts { kFloat32, kAnyFloat };

/// Copies tensors of a file to tensors of the same names. If one of them does not fit, copies none.
class Restorer {
 public:
  /// `headline` is the first line of the error message.
  Restorer(std::string headline, Accepts accepts)
      : headline_(std::move(headline)), accepts_(accepts) {}

  /// Schedules the copies, and adds a problem for each tensor that is missing, unknown, or of
  /// another shape or type. `what` precedes the names in messages.
  void copy(const std::string& what, const std::vector<checkpoint::NamedTensor>& from,
            const std::vector<model::NamedTensor>& to);

  void add_problem(const std::string& problem) { problems_.push_back(problem); }

  /// Throws Error(kCheckpoint) with all problems, or performs the copies.
  void finish();

 private:
  bool accepts(archive::DType dtype) const;

  std::string headline_;
  Accepts accepts_;
  std::vector<std::string> problems_;
  std::vector<std::pair<at::Tensor, archive::TensorData>> copies_;
};

}  // namespace trainer::train
