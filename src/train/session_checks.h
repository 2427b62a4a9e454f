// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include "trainer/config/config.h"
#include "trainer/table/dataset.h"
#include "trainer/torch/model/loss.h"
#include "trainer/torch/model/network.h"

// What a configuration means for a session: whether it fits the data and the device, and the
// options of the network and of the loss.

namespace trainer::train {

/// Whether the CPU kernels support this configuration on `device`.
bool has_kernels(const config::Config& config, c10::Device device);

/// Throws Error(kUsage) for settings that do not fit the data or the device.
void check_data(const config::Config& config, const data::Datasets& data, c10::Device device);

/// Throws Error(kUsage) if a pattern of training.freeze or model.init_skip matches no tensor, or no
/// parameter is left to train.
void check_patterns(const config::Config& config, const model::Network& model);

model::NetworkOptions network_options(const config::Config& config);

model::LossOptions loss_options(const config::TrainingConfig& training, config::Task task);

}  // namespace trainer::train
