// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "trainer/core/error.h"

namespace trainer {

/// All that is in the file, or in the pipe, or nothing if there is none of that name. Throws
/// Error(kind) "PATH: PROBLEM: REASON" where the system cannot give all of it: a part of a file is
/// never taken for the whole.
std::optional<std::string> read_text(const std::filesystem::path& path,
                                     ErrorKind kind = ErrorKind::kFileSystem,
                                     std::string_view problem = "cannot be read");

}  // namespace trainer
