// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trainer/table/dataset.h"

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
