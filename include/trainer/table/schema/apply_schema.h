// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/table/dataset.h"

namespace trainer::data {

/// The rows of another table (of read_table_as, TableReader or read_idx_pair) with their targets,
/// as a model of `schema` was trained on them; regression targets are scaled. Adds to `num_unknown`
/// `[columns]`, which may be empty, the cells with a category that is not known. Throws
/// Error(kData) as encode() does, for a label that the model does not know (`origin` is the file of
/// those that it knows) and for a target that is no finite number.
Dataset apply_schema(Table&& table, const Schema& schema, const std::string& origin,
                     std::vector<int64_t>& num_unknown);

}  // namespace trainer::data
