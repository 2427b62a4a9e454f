// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trainer/table/schema/column.h"
#include "trainer/table/source/read_table.h"

namespace trainer::data {

/// What the cells of a column are read for. A column may have a time, or an id to be kept, besides.
enum class Role { kNumber, kText, kDate, kTarget, kSkipped, kSplit, kGroup, kWeight, kId, kTime };

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
  std::vector<config::DatePart> parts = {};                      // kDate: one feature each
  config::DateOrder date_order = config::DateOrder::kYearFirst;  // kDate and times
  std::string unit = {};                                         // kNumber, see Column::unit
};

/// What is known of a file before its rows are read.
struct TableHeader {
  std::string location;  // "file:line"
  std::vector<HeaderColumn> columns;
  size_t num_features = 0;                                 // numbers, texts and parts of dates
  std::string decimal_option = "set data.decimal: \",\"";  // what a message says
  bool drops_rows_without_target = false;
  bool is_of_training = false;       // of data.path
  std::vector<double> offsets = {};  // [columns.size()] what is subtracted from numbers and seconds
  std::vector<config::DatePart> date_parts = {};  // of columns that no option names
  config::DateOrder date_order = config::DateOrder::kAuto;
};

/// What the options say of each column. Throws Error(kData), see read_table.
TableHeader make_header(const std::string& location, const std::vector<std::string>& names,
                        const ColumnOptions& options);

/// Makes the column a date. Throws Error(kData) where a part has the name of another column.
void make_date(TableHeader& header, size_t column);

/// The column of sample weights.
std::optional<size_t> weight_column(const TableHeader& header);

/// Takes offsets, units, parts of dates and their order from the columns that a model was trained
/// on.
void take_trained(const std::vector<Column>& from, TableHeader& header);

/// How many features the cells of a column become.
size_t num_cells(const HeaderColumn& column);

/// Sets `num_features` by the roles, and makes room for the offsets.
void count_features(TableHeader& header);

}  // namespace trainer::data
