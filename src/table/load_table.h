// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/table/dataset.h"
#include "trainer/table/source/read_table.h"
#include "trainer/table/split/split.h"

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// What the columns of the training table are for; `trained` as in load_datasets(), which must
/// outlive the result.
ColumnOptions training_columns(const config::DataConfig& data, const Schema* trained);

/// The table of data.path, and those of the splits that have files of their own. `trained` as in
/// load_datasets(); scalings are not fitted yet. Throws Error(kData) as load_datasets() does.
Datasets load_table(const config::DataConfig& data, SplitOptions options, const Schema* trained);

}  // namespace trainer::data
