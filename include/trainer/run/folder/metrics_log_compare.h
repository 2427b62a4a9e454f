// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace trainer::run {

/// Compares two files metrics.jsonl, without the fields that depend on the clock
/// (`samples_per_second`, `time_seconds`, `communication_seconds`) and on memory use. Returns
/// nothing if they are equal, else the first line that differs, such as "line 4: {...} and {...}".
/// Throws Error(kFileSystem) for a file that cannot be read.
std::optional<std::string> first_difference(const std::filesystem::path& metrics_a,
                                            const std::filesystem::path& metrics_b);

}  // namespace trainer::run
