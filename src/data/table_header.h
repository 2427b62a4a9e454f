// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/column.h"
#include "trainer/data/read_table.h"

namespace trainer::data {

/// How the cells of a column are read.
enum class Role { kNumber, kText, kTarget, kSkipped, kSplit, kGroup, kWeight, kId };

struct HeaderColumn {
  std::string name;
  Role role = Role::kNumber;
  ColumnKind kind = ColumnKind::kNumeric;
  bool is_declared = false;      // else the cells decide between number and text
  bool is_trained = false;       // a model was trained on it
  bool refuses_missing = false;  // a missing number is an error
  size_t index = 0;              // among the targets, or among the ids
  std::optional<size_t> kept_index =
      {};                   // among the ids, of a column that is read for more than that
  bool is_time = false;     // also of a column that is read for more
  std::string reason = {};  // why it is left out
};

/// What is known of a file before its rows are read.
struct TableHeader {
  std::string location;  // "file:line"
  std::vector<HeaderColumn> columns;
  std::vector<size_t> numbers_from = {};  // [columns.size()] how many from here on are numbers
  size_t num_features = 0;                // numbers and texts
  std::string decimal_option = "set data.decimal: \",\"";  // what a message says
  bool drops_rows_without_target = false;
  bool is_of_training = false;       // of data.path
  std::vector<double> offsets = {};  // [columns.size()] what is subtracted from numbers
};

/// What the options say of each column. Throws Error(kData), see read_table.
TableHeader make_header(const std::string& location, const std::vector<std::string>& names,
                        const ColumnOptions& options);

/// Takes the offsets of those columns of `header` that `from` has.
void take_offsets(const std::vector<Column>& from, TableHeader& header);

/// Sets `numbers_from` and `num_features` by the roles.
void count_features(TableHeader& header);

}  // namespace trainer::data
