// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainer/table/dataset.h"
#include "trainer/table/schema/column.h"
#include "trainer/table/split/split.h"
#include "trainer/table/table.h"

/// What fitting columns and encoding them have in common.

namespace trainer::config {
struct DataConfig;
}

/// What a schema learns from rows.

namespace trainer::data {

/// The rows that columns and scalings are fitted to (data.fit_on), ascending: those of
/// `split.train`, or several splits, merged into `merged`.
std::span<const int64_t> rows_to_fit(const SplitIndices& split, const config::DataConfig& data,
                                     Array<int64_t>& merged);

/// Fits scalings, means of the targets and limits of predictions to the rows `rows` of `whole`,
/// whose targets are not scaled yet. Columns and offsets of `schema` are set already.
void fit_schema(const Dataset& whole, std::span<const int64_t> rows, const config::DataConfig& data,
                Schema& schema);

/// The cells of a table, by column.
class Cells {
 public:
  explicit Cells(const Table& table)
      : values_(std::get<Array<float>>(table.features.values)),
        num_columns_(static_cast<size_t>(table.features.num_columns)) {
    for (size_t i = 0; i < table.feature_names.size(); ++i) indices_[table.feature_names[i]] = i;
  }

  size_t index_of(const Column& column) const { return indices_.at(column.name); }
  float at(size_t row, size_t column_index) const {
    return values_[row * num_columns_ + column_index];
  }

 private:
  const Array<float>& values_;
  size_t num_columns_;
  std::unordered_map<std::string_view, size_t> indices_;
};

}  // namespace trainer::data
