// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/table/dataset.h"
#include "trainer/train/engine/engine.h"
#include "trainer/train/session.h"

namespace trainer::engine {

/// Compares the configuration and data of the resumed run with the current ones. Returns the
/// differences, one line each, if they are allowed; else throws Error(kCheckpoint) with every key
/// and data file that differs.
std::vector<std::string> check_resume(const TrainRequest& request, const data::Datasets& data);

/// Compares the rounding of bf16 products, which depends on the processor, in the same way.
std::vector<std::string> check_products(const TrainRequest& request, const train::Session& session);

/// Sets `data.shuffle_window` to all rows if the resumed run is of an older version, which shuffled
/// all rows together, so that the order of its rows does not change.
void keep_order(const TrainRequest& request, const data::Datasets& data, config::Config& config);

}  // namespace trainer::engine
