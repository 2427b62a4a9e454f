// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "trainer/table/schema/column.h"

/// What features say of the cells that they were made of; see encode().
namespace trainer::data {

/// The number of a numeric column whose feature this is, less the offset of the column: the number
/// that filled a missing cell, and one of about the same rank in a column with quantiles.
float decoded_number(const Column& column, float feature);

/// The cell as people read it: "39.1" in the units of the file, "Torgersen", "missing", or
/// "unknown" for a category that the training split lacks. `features` are those of the column.
std::string decoded_text(const Column& column, std::span<const float> features);

}  // namespace trainer::data
