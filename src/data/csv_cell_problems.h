// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainer/data/csv_format.h"

#include "data/csv_header.h"

/// What is said of cells that cannot be read.
namespace trainer::data {

/// How a missing value was written.
std::string missing_as_found(std::string_view field);

/// Why `field`, which reads as `value`, cannot be a number of `column`.
std::string number_problem(std::string_view field, std::optional<double> value,
                           const CsvColumn& column, const CsvFormat& format,
                           const CsvHeader& header);

}  // namespace trainer::data
