// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/table/dataset.h"
#include "trainer/table/schema/column.h"

namespace trainer::explain {

/// A column of a table, and the range of its features in a row of features.
struct ColumnPart {
  data::Column column;
  int64_t first_feature = 0;
  int64_t num_features = 1;
};

/// Features that are explained together, such as all those of one column of the file.
struct ColumnGroup {
  std::string name;
  std::vector<ColumnPart> parts;  // empty for a block of many features
  std::vector<int64_t> features;  // indices of the features
};

/// The features of a model in groups, in the order of the columns. A group has all features of a
/// column of the file: its categories, its missing indicator or the parts of its date. Data without
/// columns has a group for each feature; with more than 100 features, the pixels of images form
/// squares (at most 8 by 8 of them) and other features up to 64 blocks of neighbors.
std::vector<ColumnGroup> column_groups(const data::Schema& schema);

/// The index of the group of each feature, `[num_features]`.
std::vector<std::size_t> group_of_features(std::span<const ColumnGroup> groups,
                                           int64_t num_features);

/// The cell of a group in a row with these features `[num_features]` as text for people: "39.1", or
/// "year 2026, month 3" for the parts of a date. Empty for a block of many features.
std::string cell_text(const ColumnGroup& group, std::span<const float> features);

/// The index of the group with this name; nothing if there is none.
std::optional<std::size_t> find_group(std::span<const ColumnGroup> groups, const std::string& name);

/// A copy of `matrix` with float values, even if its values are bytes.
data::Matrix as_floats(const data::Matrix& matrix);

}  // namespace trainer::explain
