// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/data/table_source.h"

namespace trainer::data {

/// What a table is stored as.
enum class SourceKind { kCsv, kParquet, kJson, kQuery };

/// Told by the ending of the path, of the first file of several; all others are CSV text.
SourceKind source_kind(const TableSource& source);

/// The files of `path`, in the order of their names: that file; or all that a pattern with *, ? and
/// [] fits; or all tables of a folder, without hidden files. Throws Error(kData) where there are
/// none, or files of several kinds.
std::vector<std::string> source_files(const std::string& path);

}  // namespace trainer::data
