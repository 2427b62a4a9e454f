// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/data/split.h"
#include "trainer/data/table.h"

namespace trainer::data {

/// The targets as numbers, and what they mean.
struct Target {
  config::Task task = config::Task::kClassification;  // never kAuto
  std::string task_reason = {};                       // why, where it was inferred
  std::vector<std::string> labels;                    // [num_classes]; empty for regression
  std::vector<int64_t> classes;                       // [num_rows]; classification only
  std::vector<float> values;    // [num_rows, num_targets], less their offsets; regression only
  std::vector<double> offsets;  // [num_targets] (Scaling); empty: 0 of all
};

/// Decides the task as load_datasets documents, where `wanted` is kAuto, and turns the targets of
/// `table` into numbers. `offsets` are those of a trained model; without one they are chosen.
/// Throws Error(kData), see load_datasets.
Target learn_target(const Table& table, config::Task wanted,
                    const std::vector<double>* offsets = nullptr);

/// The index in `labels` of each target of `table` `[num_rows]`, in any spelling where all are
/// numbers. Throws Error(kData) for a label
/// that is not among them, naming `origin` as the file that they come from.
std::vector<int64_t> encode_labels(const Table& table, std::span<const std::string> labels,
                                   const std::string& origin);

/// Throws Error(kData) for a label with fewer rows than folds, so that a fold would lack it.
void require_labels_for_folds(const Table& table, const Target& target, int64_t folds);

/// Throws Error(kData) for a label of another part that no row of the training part has.
void require_labels_in_training(const Table& table, const Target& target, const Split& split);

/// Throws Error(kData) for an id column that has the name of a column of the predictions, beside
/// which it will stand.
void require_other_names(const Table& table, const Target& target);

/// The targets of `table` as numbers `[num_rows, num_targets]`, less the `offsets` of the targets,
/// which may be empty. Throws Error(kData) for text and what float32 cannot hold.
std::vector<float> target_values(const Table& table, const std::vector<double>& offsets);

}  // namespace trainer::data
