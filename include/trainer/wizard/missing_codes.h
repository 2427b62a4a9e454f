// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/data/inspect.h"

namespace trainer::wizard {

/// What most likely stands for a missing value in a column of numbers, and in how many rows.
struct MissingCode {
  std::string column;
  std::string text;
  int64_t count;
};

/// Texts such as - or unknown, hardly any texts at all, and numbers such as -999 that are far below
/// all others, in columns of numbers. What is added to InspectOptions::missing is not found again.
std::vector<MissingCode> find_missing_codes(const data::TableFacts& table);

/// The text among those of data.missing that evidently is a class of the column `target`: None, NA,
/// N/A or null in about as many rows as other classes, where every missing value is written so, and
/// no column of numbers has it; or an empty text.
std::string find_missing_class(const data::TableFacts& table, const std::string& target);

}  // namespace trainer::wizard
