// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "trainer/base/memory/array.h"

#include "table/source/chunk.h"
#include "table/source/table_header.h"

namespace trainer::data {

/// Decides by the first rows of `source` what the open columns of `header` are, and the offsets of
/// numbers; `source` is to be started again.
void decide_by_sample(ChunkSource& source, TableHeader& header);

/// What is subtracted from the numbers of a column before they become float32: 0, unless float32
/// would lose what tells them apart, as it does of seconds since 1970 and of dates written as
/// yyyymmdd. Then it is one of `values`: so whole numbers stay whole. Few outliers, and codes that
/// stand for a missing value, do not decide.
double choose_offset(Array<double> values);

/// Whether `value`, in every row, would get an offset.
bool is_large_constant(double value);

/// How many of the first rows tell what a table is like, and how many at most while the offset of a
/// column is open: a file may begin with many equal cells.
inline constexpr int64_t kMinSampleRows = 256;
inline constexpr int64_t kMaxSampleRows = 65'536;

/// How many values of each column its offset is chosen by: fewer of very many columns.
size_t max_sample_values(size_t num_columns);

/// Some values of a column to choose its offset by: the first ones; where these are all equal, the
/// first half as many and then those from the first different one on.
class OffsetSample {
 public:
  void add(double value, size_t max_values) {
    if (!std::isfinite(value)) return;
    is_constant_ = is_constant_ && (values_.empty() || value == values_.front());
    if (values_.size() < (is_constant_ ? max_values / 2 : max_values)) values_.push_back(value);
  }

  /// Whether only more values can tell if an offset is needed.
  bool is_open() const {
    return is_constant_ && !values_.empty() && is_large_constant(values_.front());
  }
  bool empty() const { return values_.empty(); }
  Array<double> take() { return std::move(values_); }

 private:
  Array<double> values_;
  bool is_constant_ = true;
};

}  // namespace trainer::data
