// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/config/types.h"

namespace trainer::data {

/// A part of a time, which is given in seconds since the beginning of 1970 in UTC: the year, the
/// month 1 to 12, the day of the week 1 (Monday) to 7, the hour 0 to 23, or the seconds themselves.
double part_of(double seconds, config::DatePart part);

/// What a part of the column `name` is called as a column: "name.year".
std::string part_name(const std::string& name, config::DatePart part);

}  // namespace trainer::data
