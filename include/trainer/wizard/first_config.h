// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/data/dataset.h"
#include "trainer/data/inspect.h"

namespace trainer::wizard {

/// A column that becomes no feature, or is a category that the reader would not see as one.
struct Exception {
  std::string column;
  std::string reason;
};

/// A configuration for a table that nobody looked at yet, and why it is so.
struct FirstConfig {
  config::Config config;  // of what is written; data.path is that of the table
  std::vector<Exception> id;
  std::vector<Exception> ignore;
  std::vector<Exception> categorical;
  std::string task_reason;            // where the task was inferred
  std::string recipe_reason;          // why it is not a more accurate recipe
  std::string time_reason;            // why there is a training.max_seconds
  std::vector<std::string> warnings;  // of the data: columns that tell the target
  double training_seconds = 0;        // that training will take, about
};

/// A first configuration to predict `target`, with kAuto by the task that infer_task() says. Throws
/// Error(kUsage) when there is no such column, and Error(kData) with the line when it cannot be
/// predicted.
FirstConfig make_first_config(const data::TableFacts& table, const std::string& target,
                              config::Task task = config::Task::kAuto);

/// Adds the columns that were left out when the data was read with it.
void add_left_out(FirstConfig& first, const data::Schema& schema);

}  // namespace trainer::wizard
