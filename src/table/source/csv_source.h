// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "table/source/chunk.h"

namespace trainer::data {

/// Tables of CSV text, read as one; messages call them `name`.
std::unique_ptr<ChunkSource> open_csv(const std::string& name, std::vector<std::string> files,
                                      const CsvFormat& format);
/// Of a file of which nothing was read yet.
std::unique_ptr<ChunkSource> open_csv(DataFile file, const CsvFormat& format);

}  // namespace trainer::data
