// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace trainer::experiments {

/// Size and time of what a run changes first when it trains, of every run folder in an output
/// folder. Two that differ say that a run trained in between.
using RunTrace = std::map<std::string, std::pair<uintmax_t, std::filesystem::file_time_type>>;

RunTrace trace_runs(const std::filesystem::path& output_dir);

/// The step of the newest record of the run that the output folder's `latest` points to.
std::optional<int64_t> last_recorded_step(const std::filesystem::path& output_dir);

/// Nothing when two finished runs are the same to the bit, what depends on the clock aside; else
/// the first difference: "last.pt: step: 90 and 91". A file that cannot be read is a difference.
std::optional<std::string> first_difference_of_runs(const std::filesystem::path& run_a,
                                                    const std::filesystem::path& run_b);

}  // namespace trainer::experiments
