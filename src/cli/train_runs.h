// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "trainer/experiments/runs.h"

#include "cli/common_options.h"

namespace trainer::cli {

/// The result of a series, a JSON text, with the folder that it was written to.
nlohmann::ordered_json with_folder(const std::filesystem::path& folder, const std::string& json);

/// Trains one run of several: its progress is shown, its messages are in its train.log.
experiments::RunOutcome train_one_of_several(const CommonOptions& common,
                                             const experiments::RunJob& job);

}  // namespace trainer::cli
