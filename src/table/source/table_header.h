// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/table/schema/column.h"
#include "trainer/table/source/csv_format.h"
#include "trainer/table/source/table_reader.h"

/// The columns of a table before its rows are read, and what is said of cells that cannot be read.

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

/// What a trained model says of each column. `delimiter` is that of CSV text. Throws Error(kData),
/// see read_table_as.
TableHeader make_trained_header(const std::string& location, const std::vector<std::string>& names,
                                const TrainedColumns& trained, std::optional<char> delimiter);

/// Throws Error(kData) for a column without a name, two of one name, and bytes that are no UTF-8.
void require_good_names(const std::string& location, const std::vector<std::string>& names);

/// Throws Error(kData) when there is one name only, as there is with a wrong delimiter.
/// `option` is how it can be chosen: "data.delimiter: ".
void require_several(const std::vector<std::string>& names, const std::string& location,
                     char delimiter, const std::string& option);

/// How a missing value was written.
std::string missing_as_found(std::string_view field);

/// Why `field`, which reads as `value`, cannot be a number of `column`.
std::string number_problem(std::string_view field, std::optional<double> value,
                           const HeaderColumn& column, const CsvFormat& format,
                           const TableHeader& header);

}  // namespace trainer::data
