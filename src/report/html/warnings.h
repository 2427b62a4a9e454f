// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trainer::report {

/// Returns the warnings in the log of a run, or in the logs of the runs of a series: each text
/// once, in the order of the logs.
std::vector<std::string> logged_warnings(const std::filesystem::path& folder);

}  // namespace trainer::report
