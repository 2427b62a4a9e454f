// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/table/schema/target.h"
#include "trainer/table/source/inspect.h"

/// Guesses what the columns of an unknown table mean, from the facts of data::inspect_table().

namespace trainer::wizard {

/// Numbers with at most this many distinct values may be categories.
inline constexpr int64_t kFewValues = 10;

/// What the cells of a column look like, for people: "numbers", "integers", "text", "numbers and
/// text", "numbers with commas" (1,5), "numbers with %", "dates", "row numbers", "row identifiers",
/// "constant", "nothing"; or the name of a type that cannot be used.
std::string kind_text(const data::ColumnFacts& column);

/// What a column would be as a target, "3 classes" or "numeric"; empty if it cannot be a target.
std::string target_text(const data::ColumnFacts& column);

/// Whether a column has the name of an id and repeated whole numbers, so that each of its values
/// identifies a group of rows, such as a customer.
bool groups_rows(const data::ColumnFacts& column);

/// The names of the columns that are most likely the target, the likeliest first.
std::vector<std::string> likely_targets(const data::TableFacts& table);

/// Whether the column carries no information: all values are equal. A text column with missing
/// cells is not constant, as a missing cell differs from the text; a numeric one is, as missing
/// cells are filled with the number.
bool is_constant(const data::ColumnFacts& column);

/// Whether the column has both numbers and texts.
bool is_mixed(const data::ColumnFacts& column);

/// Whether more than half of the texts are numbers with a unit, and none is a number without it.
bool has_unit(const data::ColumnFacts& column);

/// Whether more than half of the values are dates.
bool has_dates(const data::ColumnFacts& column);

/// Whether the values identify rows: all differ, most are texts, and there are more than kFewValues
/// of them, so that this is unlikely to be an accident.
bool names_rows(const data::ColumnFacts& column);

/// Whether the values number the rows: all are different whole numbers that count up by one or are
/// in a column with the name of an id.
bool numbers_rows(const data::ColumnFacts& column);

/// The task of a target with these values, see data::infer_task().
data::TaskChoice infer_task(const data::ColumnFacts& column);

/// A text or number that most likely means a missing value in a column of numbers or dates.
struct MissingCode {
  std::string column;
  std::string text;  // as it is written in the cells
  int64_t count;     // number of rows that have it
};

/// Finds codes in columns of numbers or dates: texts such as - or unknown, any texts if they are
/// very few, and numbers such as -999 that are far below all others. Codes that were added to
/// InspectOptions::missing before the inspection are not found again.
std::vector<MissingCode> find_missing_codes(const data::TableFacts& table);

/// The text of data.missing that is evidently a class of the column `target`, or an empty text if
/// there is none: None, NA, N/A or null, if all missing values of the target are written so, it is
/// at least half as frequent as the rarest class, and no column of numbers has it.
std::string find_missing_class(const data::TableFacts& table, const std::string& target);

}  // namespace trainer::wizard
