// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trainer/table/source/csv_format.h"

#include "table/source/table_header.h"

/// What is said of cells that cannot be read.
namespace trainer::data {

/// How a missing value was written.
std::string missing_as_found(std::string_view field);

/// Why `field`, which reads as `value`, cannot be a number of `column`.
std::string number_problem(std::string_view field, std::optional<double> value,
                           const HeaderColumn& column, const CsvFormat& format,
                           const TableHeader& header);

}  // namespace trainer::data
