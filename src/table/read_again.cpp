// SPDX-License-Identifier: Apache-2.0
#include "table/read_again.h"

#include "trainer/config/data_config.h"

namespace trainer::data {

config::DataConfig as_in_run(config::DataConfig data, const Schema* trained) {
  const bool is_open = config::is_table(data.source) || data.source == config::Source::kNpy;
  if (trained == nullptr || !is_open) return data;
  if (data.task == config::Task::kAuto) data.task = trained->task;
  if (data.missing == config::default_missing_texts()) data.missing = trained->missing;
  return data;
}

const std::vector<double>* target_offsets(const Schema* trained) {
  return trained == nullptr ? nullptr : &trained->target_scaling.offset;
}

}  // namespace trainer::data
