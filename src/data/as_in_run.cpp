// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/dataset.h"

namespace trainer::data {

config::DataConfig as_in_run(config::DataConfig data, const Schema& schema) {
  if (data.source != config::Source::kCsv && data.source != config::Source::kNpy) return data;
  if (data.task == config::Task::kAuto) data.task = schema.task;
  if (data.missing == config::default_missing_texts()) data.missing = schema.missing;
  return data;
}

}  // namespace trainer::data
