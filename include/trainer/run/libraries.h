// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace trainer::run {

/// Name and version of each library that this program uses, but for the BLAS (run/blas.h) and
/// DuckDB, which is opened where it is needed only (`trainer doctor` names it): those that it was
/// built with, of zlib, zstd and SQLite those that are loaded.
std::vector<std::pair<std::string, std::string>> library_versions();

}  // namespace trainer::run
