// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/config/types.h"
#include "trainer/table/dataset.h"
#include "trainer/table/split/split.h"

#include "table/schema/target.h"

namespace trainer::config {
struct DataConfig;
}

/// From the rows of a file to the datasets of each split.
namespace trainer::data {

/// The task to infer by: IDX and synthetic data have classes; tables and arrays leave it open.
config::Task wanted_task(const config::DataConfig& data);

/// The `lines` on which the rows of a text file begin; of other files, which have none, the numbers
/// of the rows from 1 on.
Array<int64_t> source_lines(Array<int64_t>&& lines, int64_t num_rows);

/// Fits `schema`, which has the features with their columns and offsets, to the rows of `table`
/// with these features and targets (see fit_schema.h), and splits the rows.
Datasets split_dataset(Table&& table, Matrix&& features, Target&& target, const SplitIndices& split,
                       std::span<const int64_t> fit_rows, const config::DataConfig& data,
                       Schema&& schema);

/// Infers what the targets of `table` mean and splits its rows at random, by class where there are
/// classes. `trained` as in load_datasets(). Throws Error(kData) as infer_target(),
/// require_labels_for_folds() and split_rows() do.
Datasets fit_and_split(Table&& table, const config::DataConfig& data, const SplitOptions& options,
                       const Schema* trained);

}  // namespace trainer::data
