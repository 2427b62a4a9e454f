// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/engine/engine.h"
#include "trainer/run/run_dir.h"
#include "trainer/train/session.h"

#include "engine/decisions.h"
#include "engine/processes.h"

/// The first lines of a run's log.
namespace trainer::engine {

/// The implementation of the session's step: "fused (AVX-512)".
std::string step_text(const train::Session& session);

/// Logs the settings that determine the results of the run, including derived values.
void log_header(const train::Session& session, const TrainRequest& request,
                const Decisions& decisions, const Processes& processes, const run::RunDir& run);

/// Logs the warnings on the data, and one on a slow BLAS.
void log_warnings(const train::Session& session);

/// Logs the learning rate where a resume with other epochs changes it.
void log_other_schedule(const train::Session& session, const checkpoint::ResumePoint& resume);

}  // namespace trainer::engine
