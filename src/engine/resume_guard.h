// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/data/dataset.h"
#include "trainer/engine/engine.h"

namespace trainer::engine {

/// Compares the resumed run with the current configuration and data. Returns a warning if there are
/// differences and they are allowed, else an empty text.
/// Throws Error(kCheckpoint) that names every key and data file that differs.
std::string check_resume(const TrainRequest& request, const data::Datasets& data);

/// Sets `data.shuffle_window` for a run of an older version, which shuffled all rows together, so
/// that it is resumed in its order.
void keep_order(const TrainRequest& request, const data::Datasets& data, config::Config& config);

}  // namespace trainer::engine
