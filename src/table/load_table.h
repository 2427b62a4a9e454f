// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trainer/table/dataset.h"
#include "trainer/table/source/table_reader.h"
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

namespace trainer::config {
struct DataConfig;
}

/// Features and targets in files of their own. `trained` as in load_datasets(); scalings are not
/// fitted yet.

namespace trainer::data {

/// The files of data.idx. Throws Error(kData) as load_datasets() does.
Datasets load_idx(const config::DataConfig& data, const SplitOptions& options,
                  const Schema* trained);

/// The files of data.npy. Throws Error(kData) as load_datasets() does.
Datasets load_npy(const config::DataConfig& data, const SplitOptions& options,
                  const Schema* trained);

}  // namespace trainer::data

namespace trainer::config {
struct DataConfig;
}

/// How the data of a run are read again: as they were, whatever is the default now. `trained` is
/// the schema of that run, nullptr for a new one.

namespace trainer::data {

/// `data` with what was inferred when the run began, or was another default then.
config::DataConfig as_in_run(config::DataConfig data, const Schema* trained);

/// The offsets of the targets, nullptr where they are still to be chosen.
const std::vector<double>* target_offsets(const Schema* trained);

}  // namespace trainer::data
