// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "trainer/config/types.h"

namespace trainer::data {

/// The values of a target that a task is to be chosen for, all of them or as many as were looked
/// at.
struct TargetFacts {
  bool all_numbers = true;
  bool all_whole = true;  // whole and finite numbers
  int64_t num_distinct = 0;
  double min = 0;  // of whole numbers
  double max = 0;
  int64_t num_rows = 0;
};

/// A task and why it was taken.
struct TaskChoice {
  config::Task task = config::Task::kClassification;  // never kAuto
  std::string reason;                                 // "as it holds text"
  std::string otherwise;  // how to choose the other one, where that may well be meant
};

/// What data.task: auto means, for training and for `init`: classification of text, of at most 20
/// different whole numbers, and of at most 100 that count from 0 or 1 without a gap and have five
/// rows each on average; else regression.
TaskChoice infer_task(const TargetFacts& facts);

}  // namespace trainer::data
