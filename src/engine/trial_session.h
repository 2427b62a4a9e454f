// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "trainer/train/session.h"

#include "engine/decisions.h"

namespace trainer::engine {

/// A session of which nothing is kept: its steps are timed.
struct TrialSession {
  Decisions decisions;  // of device and precision
  std::unique_ptr<train::Session> session;
};

/// Reads the data and makes the session as configured, without its step. Throws as decide_device()
/// and train::make_session() do.
TrialSession open_trial_session(config::Config config);

}  // namespace trainer::engine
