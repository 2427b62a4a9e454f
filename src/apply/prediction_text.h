// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/model.h"

#include "apply/output.h"

namespace trainer::apply {

/// Formats predictions as lines of a CSV file.
class PredictionText {
 public:
  /// Throws Error(kData) if an id has the name of another column, or if a class of the sets of a
  /// conformal model has the character that separates them.
  PredictionText(const Model& model, const std::vector<std::string>& id_names, char delimiter,
                 char decimal = '.');

  /// The names of all columns, the ids first.
  const std::vector<std::string>& names() const { return names_; }

  /// The names and SQL types of all columns for a Parquet file. The first ones have the types
  /// `id_types`; further ids are text. Labels are integers if all of them are.
  std::vector<ParquetColumn> columns(const std::vector<std::string>& id_types) const;

  void add_header(fmt::memory_buffer& out) const;

  /// Appends a line for each row; `outputs` are `[n, num_outputs]`, `ids` `[n, id_names]`. Returns
  /// the number of rows with outputs that are not finite, whose predictions are empty cells.
  int64_t add_rows(std::span<const float> outputs, std::span<const std::string> ids,
                   fmt::memory_buffer& out) const;

  /// Appends a line of empty cells.
  void add_empty_row(fmt::memory_buffer& out) const;

 private:
  void add_cell(std::string_view text, fmt::memory_buffer& out) const;
  void add_row(std::span<const double> numbers, int64_t predicted, fmt::memory_buffer& out) const;
  void add_number(double number, std::size_t target, fmt::memory_buffer& out) const;
  void add_intervals(std::span<const double> predictions, fmt::memory_buffer& out) const;
  void add_set(std::span<const double> probabilities, int64_t predicted,
               fmt::memory_buffer& out) const;

  const Model& model_;
  std::vector<std::string> names_;   // of all columns
  std::vector<std::string> labels_;  // as CSV cells, in quotes if needed
  std::size_t num_ids_;
  char delimiter_;
  char decimal_;
};

}  // namespace trainer::apply
