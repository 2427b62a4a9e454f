// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "devices/results.h"

namespace trainer::bench {

/// The printed result: for each workload the rows and the fastest, then absent and failed rows, and
/// a recommendation. At most 110 columns for names of usual length.
std::string comparison_table(const Results& results);

/// With 4 significant digits: "0.0213", "13.21", "1234".
std::string milliseconds_text(double ms);

}  // namespace trainer::bench
