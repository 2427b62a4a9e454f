// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/data/column.h"
#include "trainer/data/dataset.h"

namespace trainer::explain {

/// A column of a table and where its features are.
struct ColumnPart {
  data::Column column;
  int64_t first_feature = 0;
  int64_t num_features = 1;
};

/// Features that are explained together.
struct ColumnGroup {
  std::string name;
  std::vector<ColumnPart> parts;  // none: a block of many features
  std::vector<int64_t> features;
};

/// The features of a model in groups, in the order of the columns: all of a column of the file,
/// which are its categories, its mark of missing cells or the parts of its date. Data without
/// columns have a group for each feature; of more than 100, the pixels of images are in squares
/// (at most 8 by 8 of them) and others in up to 64 blocks of neighbors.
std::vector<ColumnGroup> column_groups(const data::Schema& schema);

/// `[num_features]` the index of the group of each feature.
std::vector<std::size_t> group_of_features(std::span<const ColumnGroup> groups,
                                           int64_t num_features);

/// The cell of a group in a row with these features `[num_features]`, as people read it: "39.1", or
/// "year 2026, month 3" of the parts of a date. Empty for a block of many features.
std::string cell_text(const ColumnGroup& group, std::span<const float> features);

/// The group with that name, or nothing.
std::optional<std::size_t> find_group(std::span<const ColumnGroup> groups, const std::string& name);

/// `matrix` as numbers, also where its values are bytes.
data::Matrix as_floats(const data::Matrix& matrix);

}  // namespace trainer::explain
