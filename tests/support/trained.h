// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include "trainer/train/session.h"

#include "support/tensors.h"
#include "train/steps_ahead.h"

namespace trainer::test {

/// Trains to the end without evaluation, with up to `max_length` steps started together, however
/// long they take.
inline void train_ahead(train::Session& session, int64_t max_length) {
  train::StepsAhead ahead(max_length, std::numeric_limits<double>::infinity());
  const auto num_samples = [&] {
    return schedule::samples_per_epoch(session.config.training, session.train.size());
  };
  const int64_t a_step = schedule::samples_per_step(session.config.training, session.train.size());
  while (!train::finished(session)) {
    const int64_t left = num_samples() - session.state.position.samples_in_epoch;
    for (const train::StepStats& stats : ahead.run(session, (left + a_step - 1) / a_step)) {
      train::advance(session, stats);
    }
    if (!train::epoch_is_complete(session)) continue;
    train::finish_interval(session);
    train::finish_epoch(session);
  }
}

/// Starts the next steps of the session together; TrainStep::finish() has their results.
inline void start_steps(train::Session& session, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const train::Window window = train::next_window(session);
    session.step->start(window, train::next_rates(session));
    train::advance(session, {.num_samples = window.num_samples});
  }
}

/// That two sessions have the same state, to the bit.
inline void expect_same(const train::Session& a, const train::Session& b) {
  EXPECT_TRUE(identical(a.model.parameters().values, b.model.parameters().values));
  ASSERT_EQ(a.optimizer_state.moments.size(), b.optimizer_state.moments.size());
  for (std::size_t i = 0; i < a.optimizer_state.moments.size(); ++i) {
    EXPECT_TRUE(
        identical(a.optimizer_state.moments[i].tensor, b.optimizer_state.moments[i].tensor));
  }
  EXPECT_EQ(a.optimizer_state.step, b.optimizer_state.step);
  if (a.model.buffer_values().defined()) {
    EXPECT_TRUE(identical(a.model.buffer_values(), b.model.buffer_values()));
  }
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.grad_norm, b.grad_norm);
}

}  // namespace trainer::test
