// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/run/metrics_log.h"
#include "trainer/tensorboard/event_file.h"

namespace trainer::config {
struct Config;
}

namespace trainer::tensorboard {

/// What TensorBoard shows of a record of metrics.jsonl: "loss/train", "accuracy/validation",
/// "learning_rate", ... Records within an epoch and those that close one have tags of their own, as
/// they are of other samples: "loss/train_steps" and "loss/train".
void add_record(const run::MetricsRecord& record, EventFile& file);

/// All keys whose values are not the defaults.
void add_configuration(const config::Config& config, EventFile& file);

}  // namespace trainer::tensorboard
