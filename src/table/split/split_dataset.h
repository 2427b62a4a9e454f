// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/config/types.h"
#include "trainer/table/dataset.h"
#include "trainer/table/split/split.h"
#include "trainer/table/table.h"

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

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// Divides the rows of a table as its columns and `options` say. Throws Error(kData) as the
/// functions of split.h do, and as require_labels_in_training() does.
SplitIndices split_table(const Table& table, const Target& target, const config::DataConfig& data,
                         const SplitOptions& options);

}  // namespace trainer::data

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// Makes the weights of the rows, which are those of data.weight, 1 on average in each split; those
/// of the training split count each class as data.class_weights says. Throws Error(kUsage) for
/// class weights of a regression, and Error(kData) for a split in which every row has weight 0.
void weigh_rows(Datasets& datasets, const config::DataConfig& data);

/// How many rows each split but the training split has.
struct SplitSizes {
  int64_t validation = 0;
  int64_t test = 0;
};

/// The sizes by the fractions of `num_rows`. Throws Error(kData) when a fraction above 0 takes no
/// row or nothing is left to train on.
SplitSizes split_sizes(int64_t num_rows, const SplitOptions& options);

/// The rows for validation of `num_rows` that are not of the fold.
int64_t validation_rows(int64_t num_rows, const SplitOptions& options);

}  // namespace trainer::data
