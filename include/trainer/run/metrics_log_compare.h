// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace trainer::run {

/// Nothing when two metrics.jsonl hold the same records but for what depends on the clock
/// (`samples_per_second`, `time_seconds`) and on the machine's memory, else the first line that
/// differs: "line 4: {...} and {...}". Throws Error(kFileSystem) for a file that cannot be read.
std::optional<std::string> first_difference(const std::filesystem::path& metrics_a,
                                            const std::filesystem::path& metrics_b);

}  // namespace trainer::run
