// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "trainer/train/session.h"

#include "devices/plan.h"

namespace trainer::bench {

/// The session of a row, one step after the other.
class RowSession {
 public:
  /// Throws as cache::load() and train::make_session() do.
  RowSession(const RowPlan& plan, int64_t num_threads);

  /// Makes a step (training, or a forward pass over the first batch), waits for the device, and
  /// returns the milliseconds that this took. Throws Error(kOutOfMemory).
  double step();

  /// The mean loss of the last training step, or of the first batch for forward passes.
  double loss();

  c10::Device device() const { return session_->device; }

 private:
  void train();
  void infer();

  Pass pass_;
  std::unique_ptr<train::Session> session_;
  train::ResidentData batch_;  // of forward passes
  double loss_ = 0;
};

}  // namespace trainer::bench
