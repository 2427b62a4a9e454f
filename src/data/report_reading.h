// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "trainer/core/long_work.h"

namespace trainer::data {

/// After how many rows it is time to tell again.
inline constexpr int64_t kRowsPerReport = 4096;

/// Tells how much of a table is read: `num_read` bytes of `num_bytes`, 0 where that is not known.
inline void report_reading(uint64_t num_read, uint64_t num_bytes) {
  constexpr double kNotYetAll = 0.999;
  const auto size = static_cast<double>(std::max<uint64_t>(1, num_bytes));
  const double part = num_bytes == 0 ? 0 : static_cast<double>(num_read) / size;
  report_long_work("reading the table", std::min(part, kNotYetAll));
}

/// Tells at its end that reading is over, however it ended.
class ReadingReport {
 public:
  ReadingReport() = default;
  ~ReadingReport() { report_long_work("reading the table", 1); }
  ReadingReport(const ReadingReport&) = delete;
  ReadingReport& operator=(const ReadingReport&) = delete;
};

}  // namespace trainer::data
