// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/table/dataset.h"
#include "trainer/table/split/split.h"

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
