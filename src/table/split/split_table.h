// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/table/split/split.h"
#include "trainer/table/table.h"

#include "table/schema/target.h"

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// Divides the rows of a table as its columns and `options` say. Throws Error(kData) as the
/// functions of split.h do, and as require_labels_in_training() does.
SplitIndices split_table(const Table& table, const Target& target, const config::DataConfig& data,
                         const SplitOptions& options);

}  // namespace trainer::data
