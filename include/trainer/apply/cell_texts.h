// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/table/dataset.h"

/// The texts of cells that exported models know, which look them up exactly as they are listed.

namespace trainer::apply {

/// The values that count as missing. Texts are listed in several spellings, because exported models
/// tell capital and small letters apart.
struct MissingValues {
  std::vector<std::string> texts = {""};
  std::vector<double> numbers = {};
};

/// What counts as missing in the columns of this schema.
MissingValues missing_values(const data::Schema& schema);

/// Texts of cells, some of them several times with different spellings.
struct CellTexts {
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;  // [texts] the category of each; their count: missing
};

/// The texts of a categorical column that are a category, in spellings that programs commonly
/// write; and those that are missing, if it has a missing indicator. A text that is listed twice
/// has the first of its numbers.
CellTexts cell_texts(const data::Column& column, const MissingValues& missing);

}  // namespace trainer::apply
