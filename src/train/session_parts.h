// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/config/config.h"
#include "trainer/torch/model/loss.h"
#include "trainer/torch/model/network.h"

// Translates configuration keys to the options of the network and of the loss.
namespace trainer::train {

model::NetworkOptions network_options(const config::Config& config);

model::LossOptions loss_options(const config::TrainingConfig& training, config::Task task);

}  // namespace trainer::train
