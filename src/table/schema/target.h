// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/error.h"
#include "trainer/base/memory/array.h"
#include "trainer/config/types.h"
#include "trainer/table/split/split.h"
#include "trainer/table/table.h"

namespace trainer::data {

/// The targets as numbers, and what they mean.
struct Target {
  config::Task task = config::Task::kClassification;  // never kAuto
  std::string task_reason = {};                       // why, where it was inferred
  std::vector<std::string> warnings = {};             // about the labels
  std::vector<std::string> labels;                    // [num_classes]; empty for regression
  Array<int64_t> classes;                             // [num_rows]; classification only
  Array<double> numbers;        // [num_rows, num_targets] as the file has them; regression only
  Array<float> values;          // the same less their offsets
  std::vector<double> offsets;  // [num_targets] (Scaling); empty: 0 of all
};

/// Decides the task as load_datasets documents, where `wanted` is kAuto, and turns the targets of
/// `table` into numbers. `offsets` are those of a trained model; without one they are chosen.
/// Throws Error(kData), see load_datasets.
Target infer_target(const Table& table, config::Task wanted,
                    const std::vector<double>* offsets = nullptr);

/// Makes `label`, in any spelling, the second one of two classes; nothing if it is empty. Throws
/// Error(kData) if there are not two classes, or none of them is `label`.
void choose_positive(const Table& table, const std::string& label, Target& target);

/// The targets of `table` as numbers `[num_rows, num_targets]`. Throws Error(kData) for text and
/// what float32 cannot hold.
Array<double> target_numbers(const Table& table);

/// `numbers` `[num_rows, num_targets]` less the `offsets` of the targets, which may be empty.
Array<float> without_offsets(const Array<double>& numbers, const std::vector<double>& offsets);

/// Where the row stands, for messages: "file:line", or "file: item 7" of a file without lines.
std::string row_location(const Table& table, size_t row);

/// An Error(kData) at `location` about a target of `table`.
Error target_error(const Table& table, const std::string& location, const std::string& problem,
                   size_t target = 0);

/// A line that names the columns that tell the target: each class has a value of its own there, the
/// same in all its rows; or the target is a multiple of the numbers plus a constant, to a
/// thousandth of its range. Nothing of a table with fewer than 20 rows.
std::vector<std::string> find_target_copies(const Table& table, const Target& target);

}  // namespace trainer::data

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// The index in `labels` of each target of `table` `[num_rows]`, in any spelling where all are
/// numbers. Throws Error(kData) for a label that is not among them, naming `origin` as the file
/// that they come from.
Array<int64_t> encode_labels(const Table& table, std::span<const std::string> labels,
                             const std::string& origin);

/// Throws Error(kData) for a label with fewer rows than folds, so that a fold would lack it.
void require_labels_for_folds(const Table& table, const Target& target, int64_t folds);

/// Throws Error(kData) for a label of another split that no row of the training split, or of those
/// that data.fit_on adds to it, has.
void require_labels_in_training(const Table& table, const Target& target, const SplitIndices& split,
                                const config::DataConfig& data);

/// Throws Error(kData) for an id column that has the name of a column of the predictions, beside
/// which it will stand.
void require_other_names(const Table& table, const Target& target);

}  // namespace trainer::data
