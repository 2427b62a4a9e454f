// SPDX-License-Identifier: Apache-2.0
#include "table/error.h"

#include <fmt/format.h>

#include "trainer/base/text/format.h"

namespace trainer::data {

Error data_error(std::string_view location, std::string_view problem) {
  return {ErrorKind::kData, fmt::format("{}: {}", location, problem)};
}

Error column_error(std::string_view location, const Column& column, std::string_view problem) {
  return data_error(location, fmt::format("column {}: {}", in_quotes(column.name), problem));
}

}  // namespace trainer::data
