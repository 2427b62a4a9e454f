// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "trainer/diagnose/doctor/facts.h"
#include "trainer/diagnose/profile/workload.h"
#include "trainer/train/engine/engine.h"
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

/// Describes the network, device, batch size and memory of the session for a profile. `num_rows`
/// rows were trained on in all processes together; the result has the share of this one.
profile::Workload describe_workload(const train::Session& session, const Decisions& decisions,
                                    int64_t num_rows);

/// Implements find_batch() of engine.h. May throw exceptions of LibTorch.
BatchSearchReport run_batch_search(const BatchSearchRequest& request);

/// Implements profile() of engine.h. May throw exceptions of LibTorch.
ProfileReport run_profile(const ProfileRequest& request);

/// Implements check_devices() of engine.h. May throw exceptions of LibTorch.
doctor::EngineFacts run_device_check();

}  // namespace trainer::engine
