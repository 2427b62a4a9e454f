// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/table/dataset.h"
#include "trainer/table/source/inspect.h"

namespace trainer::wizard {

/// A column that the configuration lists: an id, a dropped column, or a column of numbers and text
/// that is declared categorical.
struct Exception {
  std::string column;
  std::string reason;
};

/// A configuration for an unknown table, with the reasons for its choices.
struct FirstConfig {
  config::Config config;  // the content of the file, but with an absolute data.path
  std::vector<Exception> id;
  std::vector<Exception> ignore;
  std::vector<Exception> categorical;
  std::string task_reason;            // why this task was inferred; empty: the user named it
  std::string time_reason;            // why training has so many epochs or so much time
  std::vector<std::string> warnings;  // about columns that give away the target
  double training_seconds = 0;        // estimate of the time of training
};

/// Makes a first configuration that predicts `target`; kAuto lets infer_task() choose the task.
/// Throws Error(kUsage) if there is no such column, and Error(kData), where possible with the line,
/// if it cannot be predicted.
FirstConfig make_first_config(const data::TableFacts& table, const std::string& target,
                              config::Task task = config::Task::kAuto);

/// Adds to `ignore` the columns that were dropped when the data was read with `first.config`, with
/// their reasons; `schema` is that of the data.
void add_left_out(FirstConfig& first, const data::Schema& schema);

/// The default time limit of training for `trainer init`, in seconds.
inline constexpr double kDefaultTimeLimit = 600;

/// Estimates the seconds that one epoch of a configuration takes on this machine.
using EpochSeconds = std::function<double(const config::Config&)>;

/// What a recipe is chosen by.
struct TrainingRows {
  int64_t num_rows = 0;
  int64_t num_features = 0;
  bool has_only_numbers = false;           // each feature is a numeric column
  std::function<double()> linear_r2 = {};  // wizard::linear_r2(), of a regression
};

/// Chooses members and recipes for these rows and `time_limit` (seconds): an ensemble of linear
/// models for a regression with very many features or that they explain, of short runs of RealMLP
/// and TabM, of RealMLP alone if those take more than 10 s, or a single run
/// of it if there are too few rows or too few epochs fit, with as many epochs as fit; else the
/// plain recipe, with sizes and epochs that suit the number of rows, and training.max_seconds.
void choose_training(FirstConfig& first, const TrainingRows& rows,
                     const EpochSeconds& epoch_seconds, double time_limit);

}  // namespace trainer::wizard
