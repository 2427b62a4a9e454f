// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/apply/labelled_rows.h"
#include "trainer/apply/model.h"
#include "trainer/table/dataset.h"
#include "trainer/table/schema/column.h"

namespace trainer::explain {

/// The rows with which a model is explained.
struct ExplainedRows {
  std::string split = {};  // as apply::SplitRows has it; empty for the rows of a file
  data::Schema schema;     // the model's, see apply::SplitRows
  data::Dataset rows;
  Array<int32_t> fold_of_row = {};  // see apply::SplitRows
  int64_t num_available = 0;        // number of rows from which these were chosen
  apply::FileNotes notes = {};
};

/// Limits rows to a random sample of at most `max_rows`, in which each row is equally likely
/// (Vitter's algorithm R, "Random sampling with a reservoir", 1985). The same seed gives the same
/// sample.
struct RowLimit {
  int64_t max_rows = 0;
  uint64_t seed = 0;
};

/// Returns `rows` of the run's own data, or a sample of them.
ExplainedRows choose_rows(const apply::SplitRows& rows, const RowLimit& limit);

/// Reads a file and returns its rows, or a sample of them, without holding the other rows of a
/// table in memory. Throws as apply::read_labelled() does.
ExplainedRows read_rows(const apply::Model& model, const apply::LabelledFile& file,
                        const RowLimit& limit);

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
