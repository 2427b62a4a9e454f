// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "trainer/train/session.h"

#include "train/engine/decisions.h"

namespace trainer::engine {

/// A session for timing steps, without a run folder.
struct TrialSession {
  Decisions decisions;  // device and precision only
  std::unique_ptr<train::Session> session;
};

/// Reads the data and creates the configured session, without its step. Throws as decide_device()
/// and train::make_session() do.
TrialSession open_trial_session(config::Config config);

}  // namespace trainer::engine
