// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "devices/results.h"

namespace trainer::bench {

/// Everything that a reader wants: for each workload the rows and who is faster, what is absent and
/// why, what failed, what to take. At most 100 columns for names of usual length.
std::string comparison_table(const Results& results);

/// 4 digits that count: "0.0213", "13.21", "1234".
std::string milliseconds_text(double ms);

}  // namespace trainer::bench
