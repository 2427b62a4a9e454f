// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/table/source/inspect.h"

namespace trainer::wizard {

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
