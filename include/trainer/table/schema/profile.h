// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trainer::data {

/// How the values of a column are distributed in the rows that it was fitted to. Serves to tell
/// whether other rows are like them (DriftCounter); it changes no prediction.
struct ColumnProfile {
  int64_t num_rows = 0;  // 0: not known, as of models that were trained before this was kept
  double missing = 0;    // share of the rows without a value
  float low = 0;         // kNumeric: smallest value, without the offset
  float high = 0;        // kNumeric: largest value
  /// kNumeric: ascending; each but the last bin ends with one of them and includes it.
  std::vector<float> edges = {};
  /// Which part of the values is in each bin `[edges + 1]`, or of each category `[categories]`.
  std::vector<float> shares = {};

  bool operator==(const ColumnProfile&) const = default;
};

/// Which of the rows from `first` on, `step` of them but fewer at the end of `num_rows`, is looked
/// at where not all are: an irregular one, as rows may alternate.
std::size_t sampled_row(std::size_t first, std::size_t step, std::size_t num_rows);

/// Fills in the bins of `profile` and their shares: at most ten, with about as many of `values` in
/// each. Equal values are in one bin.
void fit_bins(std::vector<float> values, ColumnProfile& profile);

/// The index of the bin of a value, which is not NaN.
inline std::size_t bin_of(const ColumnProfile& profile, float value) {
  std::size_t bin = 0;
  for (const float edge : profile.edges) bin += value > edge ? 1U : 0U;
  return bin;
}

}  // namespace trainer::data
