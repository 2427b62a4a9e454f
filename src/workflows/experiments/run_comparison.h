// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace trainer::experiments {

/// Size and modification time of the first files that a run changes when it trains, for every run
/// folder in an output folder. If two snapshots differ, a run has trained in between.
using RunSnapshot = std::map<std::string, std::pair<uintmax_t, std::filesystem::file_time_type>>;

RunSnapshot snapshot_runs(const std::filesystem::path& output_dir);

/// Returns the step of the newest record of the run that `latest` in the output folder points to.
std::optional<int64_t> last_recorded_step(const std::filesystem::path& output_dir);

/// Compares two finished runs. Returns nothing if they are bit-identical, except for times; else
/// the first difference: "last.pt: step: 90 and 91". A file that cannot be read is a difference.
std::optional<std::string> first_run_difference(const std::filesystem::path& run_a,
                                                const std::filesystem::path& run_b);

}  // namespace trainer::experiments
