// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trainer/base/error.h"
#include "trainer/table/schema/column.h"

namespace trainer::data {

/// An Error(kData) about `location`: a file, or "file:line".
Error data_error(std::string_view location, std::string_view problem);

/// The same about a column there.
Error column_error(std::string_view location, const Column& column, std::string_view problem);

}  // namespace trainer::data
