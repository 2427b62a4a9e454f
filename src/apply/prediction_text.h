// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/model.h"

#include "apply/parquet_writer.h"

namespace trainer::apply {

/// Predictions as lines of a CSV file.
class PredictionText {
 public:
  /// Throws Error(kData) when an id has the name of another column.
  PredictionText(const Model& model, const std::vector<std::string>& id_names, char delimiter,
                 char decimal = '.');

  /// Of all columns.
  const std::vector<std::string>& names() const { return names_; }

  /// For a Parquet file: all columns, of which the first have these types of SQL, and further ids
  /// are text. Labels are numbers if all of them are whole ones.
  std::vector<ParquetColumn> columns(const std::vector<std::string>& id_types) const;

  void add_header(fmt::memory_buffer& out) const;

  /// `outputs` are `[n, num_outputs]`, `ids` `[n, id_names]`. Says how many rows are not finite.
  int64_t add_rows(std::span<const float> outputs, std::span<const std::string> ids,
                   fmt::memory_buffer& out) const;

 private:
  void add_cell(std::string_view text, fmt::memory_buffer& out) const;
  void add_numbers(std::span<const double> numbers, bool is_finite, fmt::memory_buffer& out) const;

  const Model& model_;
  std::vector<std::string> names_;   // of all columns
  std::vector<std::string> labels_;  // in quotes where they need them
  std::size_t num_ids_;
  char delimiter_;
  char decimal_;
};

}  // namespace trainer::apply
