// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "trainer/base/time/long_work.h"

namespace trainer::data {

inline constexpr std::string_view kReading = "reading the table";

/// After how many rows it is time to tell again.
inline constexpr int64_t kRowsPerReport = 4096;

/// Tells how much of a table is read: `num_read` bytes of `num_bytes`, 0 where that is not known.
inline void report_reading(uint64_t num_read, uint64_t num_bytes) {
  constexpr double kNotYetAll = 0.999;
  const auto size = static_cast<double>(std::max<uint64_t>(1, num_bytes));
  const double part = num_bytes == 0 ? 0 : static_cast<double>(num_read) / size;
  report_long_work(kReading, std::min(part, kNotYetAll));
}

}  // namespace trainer::data
