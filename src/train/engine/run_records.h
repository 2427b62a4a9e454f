// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/run/folder/run_dir.h"
#include "trainer/train/engine/engine.h"
#include "trainer/train/session.h"

#include "train/engine/decisions.h"
#include "train/engine/processes.h"

/// What a run records of itself as a whole: system.json, summary.json, and the first and last lines
/// of its log.

namespace trainer::engine {

/// Writes system.json: the machine, the data files, and an entry for this start after those of
/// earlier starts. Throws Error(kFileSystem).
void write_system_json(const run::RunDir& run, const TrainRequest& request,
                       const Decisions& decisions, const Processes& processes,
                       const train::Session& session);

/// Writes summary.json, the results of a complete run. Throws Error(kFileSystem).
void write_summary(const TrainReport& report, const config::Config& config, const run::RunDir& run);

/// Logs all metrics of a complete run: those of the test split or, without one, of the validation
/// split.
void log_details(const TrainReport& report);

/// The name of the session's kind of step, such as "fused (AVX-512)".
std::string step_text(const train::Session& session);

/// Logs the settings that determine the results of the run, including derived values.
void log_header(const train::Session& session, const TrainRequest& request,
                const Decisions& decisions, const Processes& processes, const run::RunDir& run);

/// Logs the warnings about the data, and a warning if the run needs a BLAS and it is slow.
void log_warnings(const train::Session& session);

/// Logs the old and the new learning rate if a resume with another number of epochs changes it.
void log_other_schedule(const train::Session& session, const checkpoint::ResumePoint& resume);

}  // namespace trainer::engine
