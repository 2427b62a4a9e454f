// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "trainer/base/time/stopwatch.h"
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

}  // namespace trainer::train
