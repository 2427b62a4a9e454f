// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trainer/table/schema/column.h"
#include "trainer/table/table.h"

/// What fitting columns and encoding them have in common.
namespace trainer::data {

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
