// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/engine/engine.h"
#include "trainer/run/run_dir.h"
#include "trainer/train/session.h"

#include "engine/decisions.h"

/// The first lines of a run.
namespace trainer::engine {

/// How the step of a session is computed: "fused (AVX-512)".
std::string step_text(const train::Session& session);

/// Logs everything that decides what the run computes, derived values included.
void log_header(const train::Session& session, const TrainRequest& request,
                const Decisions& decisions, const run::RunDir& run);

}  // namespace trainer::engine
