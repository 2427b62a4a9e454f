// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include "trainer/config/config.h"
#include "trainer/data/dataset.h"
#include "trainer/model/network.h"

namespace trainer::train {

/// Whether the program's own kernels compute such a run.
bool has_kernels(const config::Config& config, c10::Device device);

/// Throws Error(kUsage) for combinations that only the data and the device show to be impossible.
void check_data(const config::Config& config, const data::Datasets& data, c10::Device device);

/// Throws Error(kUsage) where a pattern of training.freeze or model.init_skip fits no tensor, or no
/// parameter is left to be trained.
void check_patterns(const config::Config& config, const model::Network& model);

}  // namespace trainer::train
