// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/engine/engine.h"
#include "trainer/train/session.h"

namespace trainer::engine {

/// Compares the resumed run with the current configuration and data. Returns the differences, a
/// line each, if they are allowed. Throws Error(kCheckpoint) that names every key and data file
/// that differs.
std::vector<std::string> check_resume(const TrainRequest& request, const data::Datasets& data);

/// The same for how products in bf16 add up, which the processor decides.
std::vector<std::string> check_products(const TrainRequest& request, const train::Session& session);

/// Sets `data.shuffle_window` for a run of an older version, which shuffled all rows together, so
/// that it is resumed in its order.
void keep_order(const TrainRequest& request, const data::Datasets& data, config::Config& config);

}  // namespace trainer::engine
