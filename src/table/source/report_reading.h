// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "trainer/base/time/long_work.h"

#include "table/source/chunk.h"

namespace trainer::data {

inline constexpr std::string_view kReading = "reading the table";

/// Reports how much of a table is read, once in some thousand rows: the sizes of many files take a
/// while to ask for.
class ReadingProgress {
 public:
  /// To be called with each chunk of `source`, in their order.
  void add(const Chunk& chunk, const ChunkSource& source) {
    if (chunk.first_number < next_number_) return;
    next_number_ += kRowsPerReport;
    const auto size = static_cast<double>(source.size_hint());
    const double part = size == 0 ? 0 : static_cast<double>(source.bytes_read()) / size;
    report_long_work(kReading, std::min(part, kNotYetAll));
  }

 private:
  static constexpr int64_t kRowsPerReport = 4096;
  static constexpr double kNotYetAll = 0.999;

  int64_t next_number_ = 1;  // of the row to report at
};

}  // namespace trainer::data
