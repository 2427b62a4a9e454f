// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trainer::report {

/// What the log of a run, or of the runs in the folder of a series, has warned of: each text once,
/// in the order of the logs.
std::vector<std::string> logged_warnings(const std::filesystem::path& folder);

}  // namespace trainer::report
