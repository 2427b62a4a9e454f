// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainer/table/source/read_table.h"

#include "table/source/table_header.h"

namespace trainer::data {

/// What a trained model says of each column. `delimiter` is that of CSV text. Throws Error(kData),
/// see read_table_as.
TableHeader make_trained_header(const std::string& location, const std::vector<std::string>& names,
                                const TrainedColumns& trained, std::optional<char> delimiter);

}  // namespace trainer::data
