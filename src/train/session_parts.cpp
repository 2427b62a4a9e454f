// SPDX-License-Identifier: Apache-2.0
#include "train/session_parts.h"

#include <string>
#include <utility>
#include <vector>

#include "trainer/config/fields.h"

namespace trainer::train {

model::NetworkOptions network_options(const config::Config& config) {
  std::vector<config::LearningRateFactor> lr_factors;
  lr_factors.reserve(config.training.lr_factors.size());
  for (const std::string& text : config.training.lr_factors) {
    // Checked when the configuration was loaded.
    lr_factors.push_back(config::parse_lr_factor(text).value());
  }
  return {.freeze = config.training.freeze,
          .lr_factors = std::move(lr_factors),
          .precision = config.precision,
          .activation_checkpointing = config.model.activation_checkpointing};
}

model::LossOptions loss_options(const config::TrainingConfig& training, config::Task task) {
  return {.kind = config::loss_for(training.loss, task),
          .label_smoothing = training.label_smoothing,
          .huber_delta = training.huber_delta};
}

}  // namespace trainer::train
