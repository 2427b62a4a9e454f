// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/metrics/classification.h"
#include "trainer/run/metrics_log.h"
#include "trainer/tensorboard/event_file.h"

namespace trainer::config {
struct Config;
}

namespace trainer::tensorboard {

/// Classes of the largest matrix that is drawn.
inline constexpr int64_t kMaxDrawnClasses = 1000;

/// What TensorBoard shows of a record of metrics.jsonl: "loss/train", "accuracy/validation",
/// "learning_rate", ... Records within an epoch and those that close one have tags of their own, as
/// they are of other samples: "loss/train_steps" and "loss/train".
void add_record(const run::MetricsRecord& record, EventFile& file);

/// The confusion matrix of a split as a picture, "confusion_matrix/validation", and what its
/// indices mean as a text. Nothing for more than 1,000 classes.
void add_confusion(const metrics::ConfusionMatrix& confusion,
                   const std::vector<std::string>& labels, const std::string& split, int64_t step,
                   EventFile& file);

/// All keys whose values are not the defaults.
void add_configuration(const config::Config& config, EventFile& file);

}  // namespace trainer::tensorboard
