// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace trainer::run {

/// Returns name and version of each library that this program uses, except the BLAS
/// (run/folder/system_info.h) and DuckDB, which is opened only when it is needed (`trainer doctor`
/// lists it). The versions are those of the build; for zlib, zstd and SQLite those of the loaded
/// libraries.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace trainer::run
