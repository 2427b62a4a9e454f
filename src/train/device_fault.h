// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "trainer/core/stopwatch.h"
#include "trainer/train/fit.h"

// Accelerators fail in ways that a CPU does not: they vanish in the middle of a run, with all that
// is in their memory, or compute wrong numbers.
namespace trainer::train {

/// A late state of a run on an accelerator, in the memory of the CPU.
class Backup {
 public:
  /// Copies the state between two steps. Not if the last copy was taken so shortly ago that copies
  /// would take more than a fiftieth of the time, and not on the CPU.
  void keep(const Session& session, const Output& output);

  /// After the device has failed with `error`: writes the copy as last.pt unless that is later, and
  /// throws Error(kDevice), which says how to continue.
  [[noreturn]] void report_failure(const Session& session, Output& output,
                                   const std::exception& error);

 private:
  checkpoint::Checkpoint checkpoint_;
  Stopwatch since_;
  double copy_seconds_ = -1;  // below 0: there is no copy
};

/// After a step in fp32 on an accelerator that was not finite: if loss and gradient are finite on
/// the CPU, from the same weights and rows, saves the state and throws Error(kDevice).
void require_the_same_on_cpu(Session& session, Output& output, const StepStats& stats);

}  // namespace trainer::train
