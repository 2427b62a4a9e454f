// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "trainer/workflows/experiments/runs.h"

#include "cli/common_options.h"

namespace trainer::cli {

/// Returns the result of a series, the JSON text `json`, with the folder that it was written to.
nlohmann::ordered_json with_folder(const std::filesystem::path& folder, const std::string& json);

/// Trains one run of several and shows its progress. Unless --verbose is given, the console shows
/// only its warnings and errors; all messages are in its train.log.
experiments::RunOutcome train_one_of_several(const CommonOptions& common,
                                             const experiments::RunJob& job);

}  // namespace trainer::cli
