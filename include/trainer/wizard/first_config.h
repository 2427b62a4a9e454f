// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/data/dataset.h"
#include "trainer/data/inspect.h"

namespace trainer::wizard {

/// What the cells of a column look like: "numbers", "whole numbers", "text", "numbers and text",
/// "comma numbers" (1,5), "row numbers", "names of rows", "always the same", "nothing".
std::string kind_text(const data::ColumnFacts& column);

/// What a column would be as a target, "3 classes" or "a number"; "" where it cannot be one.
std::string target_text(const data::ColumnFacts& column);

/// Whether a column is called an id, and its values repeat: they name what rows have in common.
bool groups_rows(const data::ColumnFacts& column);

/// The columns that most likely are the target, the likeliest first.
std::vector<std::string> likely_targets(const data::TableFacts& table);

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
  std::string task_reason;  // where the task was inferred
};

/// What most likely stands for a missing value in a column of numbers, and in how many rows.
struct MissingCode {
  std::string column;
  std::string text;
  int64_t count;
};

/// Texts such as - or unknown, hardly any texts at all, and numbers such as -999 that are far below
/// all others, in columns of numbers. What is added to InspectOptions::missing is not found again.
std::vector<MissingCode> find_missing_codes(const data::TableFacts& table);

/// A first configuration to predict `target`, with kAuto by the task that infer_task() says. Throws
/// Error(kUsage) when there is no such column, and Error(kData) with the line when it cannot be
/// predicted.
FirstConfig make_first_config(const data::TableFacts& table, const std::string& target,
                              config::Task task = config::Task::kAuto);

/// Adds the columns that were left out when the data was read with it.
void add_left_out(FirstConfig& first, const data::Schema& schema);

}  // namespace trainer::wizard
