// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/data/dataset.h"
#include "trainer/engine/engine.h"

namespace trainer::engine {

/// Compares a run that is to be continued with the configuration and data at hand. Returns a
/// warning where differences are allowed, else an empty text.
/// Throws Error(kCheckpoint) that names every key and data file that differs.
std::string check_resume(const TrainRequest& request, const data::Datasets& data);

}  // namespace trainer::engine
