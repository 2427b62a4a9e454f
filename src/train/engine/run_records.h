// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/run/folder/run_dir.h"
#include "trainer/train/engine/engine.h"
#include "trainer/train/session.h"

#include "train/engine/decisions.h"
#include "train/engine/processes.h"

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

}  // namespace trainer::engine
