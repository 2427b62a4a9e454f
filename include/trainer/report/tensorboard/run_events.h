// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/metrics/classification.h"
#include "trainer/report/tensorboard/event_file.h"
#include "trainer/run/folder/metrics_log.h"

namespace trainer::config {
struct Config;
}

namespace trainer::tensorboard {

/// The largest number of classes of a confusion matrix that is drawn.
inline constexpr int64_t kMaxDrawnClasses = 1000;

/// Adds a record of metrics.jsonl to the curves "loss/train", "accuracy/validation",
/// "learning_rate", ... Records within an epoch and those that close one have different tags,
/// because they are about different samples: "loss/train_steps" and "loss/train".
void add_record(const run::MetricsRecord& record, EventFile& file);

/// Adds the confusion matrix of a split as a picture, "confusion_matrix/validation", and a text
/// with the label of each class index. Adds nothing for more than kMaxDrawnClasses classes.
void add_confusion(const metrics::ConfusionMatrix& confusion,
                   const std::vector<std::string>& labels, const std::string& split, int64_t step,
                   EventFile& file);

/// Adds all keys whose values are not the defaults, as hyperparameters.
void add_configuration(const config::Config& config, EventFile& file);

}  // namespace trainer::tensorboard
