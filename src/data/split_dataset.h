// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/data/dataset.h"
#include "trainer/data/split.h"

#include "data/target.h"

namespace trainer::config {
struct DataConfig;
}

/// From the rows of a file to the datasets of each split.
namespace trainer::data {

/// The task to infer by: IDX and synthetic data have classes; tables and arrays leave it open.
config::Task wanted_task(const config::DataConfig& data);

/// The `lines` on which the rows of a text file begin; of other files, which have none, the numbers
/// of the rows from 1 on.
std::vector<int64_t> source_lines(std::vector<int64_t>&& lines, int64_t num_rows);

/// Splits the rows of `table` with these features and targets. The schema is without columns and
/// scalings, except for the offsets of the targets.
Datasets split_dataset(Table&& table, Matrix&& features, Target&& target,
                       const SplitIndices& split);

/// Infers what the targets of `table` mean and splits its rows at random, by class where there are
/// classes. `trained` as in load_datasets(). Throws Error(kData) as infer_target(),
/// require_labels_for_folds() and split_rows() do.
Datasets fit_and_split(Table&& table, config::Task wanted, const SplitOptions& options,
                       const Schema* trained);

}  // namespace trainer::data
