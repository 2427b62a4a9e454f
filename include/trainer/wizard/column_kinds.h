// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/data/inspect.h"
#include "trainer/data/task.h"

/// What the columns of a table that nobody looked at yet most likely are.
namespace trainer::wizard {

/// Up to so many values could be kinds, though they are numbers.
inline constexpr int64_t kFewValues = 10;

/// What the cells of a column look like: "numbers", "whole numbers", "text", "numbers and text",
/// "comma numbers" (1,5), "row numbers", "names of rows", "always the same", "nothing".
std::string kind_text(const data::ColumnFacts& column);

/// What a column would be as a target, "3 classes" or "numeric"; "" where it cannot be one.
std::string target_text(const data::ColumnFacts& column);

/// Whether a column is called an id, and its values repeat: they name what rows have in common.
bool groups_rows(const data::ColumnFacts& column);

/// The columns that most likely are the target, the likeliest first.
std::vector<std::string> likely_targets(const data::TableFacts& table);

/// Whether all values are the same. Missing cells beside the same text tell something; beside the
/// same number they are filled with it.
bool is_constant(const data::ColumnFacts& column);

/// Whether the column has numbers and texts.
bool is_mixed(const data::ColumnFacts& column);

/// Whether the values are numbers with a unit, but for a few.
bool has_unit(const data::ColumnFacts& column);

/// Whether the values are dates, but for a few.
bool has_dates(const data::ColumnFacts& column);

/// Whether each row has a text of its own, in so many rows that this is no accident.
bool names_rows(const data::ColumnFacts& column);

/// Whether each row has a whole number of its own, one after the other or in a column called an id.
bool numbers_rows(const data::ColumnFacts& column);

/// The task of a target with these values, see data::infer_task().
data::TaskChoice infer_task(const data::ColumnFacts& column);

}  // namespace trainer::wizard
