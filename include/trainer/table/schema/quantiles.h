// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trainer/base/memory/array.h"

namespace trainer::data {

/// At most `max_count` (2 or more) quantiles of `values`, ascending and evenly spaced from the
/// smallest to the largest, between two values in proportion; of fewer values these themselves. As
/// scikit-learn's QuantileTransformer has them.
std::vector<float> find_quantiles(Array<float> values, size_t max_count);

/// What a number becomes: its rank, or that quantile of the standard normal distribution.
enum class QuantileScore { kRank, kNormal };

/// How many quantiles are of use for `num_rows` values: 100, or between 10 and 1000 for the normal
/// distribution, whose ends need more of them, with 30 rows for each.
size_t max_quantiles(QuantileScore score, size_t num_rows);

/// The scores of the ranks 0, 1/2, 1, ... among `num_quantiles` (at least one): from -1 to 1, or
/// from the normal quantile of 1e-7 to that of 1 - 1e-7, about -5.2 to 5.2. They stay in memory:
/// each piece of a file asks for them again.
std::span<const double> rank_scores(size_t num_quantiles, QuantileScore score);

/// The score of numbers among at least one quantile: the first one for the first quantile and what
/// is below it, the last one for the last and what is above, and in proportion between two. Equal
/// quantiles have the score of the middle of their ranks, also at the ends, where
/// QuantileTransformer gives the end itself: so the mean over the values they are of stays nearly
/// 0. Where all quantiles are equal, every number has the score 0: nothing can be learned from it.
class QuantileScale {
 public:
  /// `quantiles` must outlive it.
  QuantileScale(std::span<const float> quantiles, QuantileScore score);

  /// The score of `value`, which is not NaN.
  float operator()(float value) const;

  /// A value that has this score, or nearly; the first or last quantile for one beyond theirs.
  float value_of(float score) const;

 private:
  std::ptrdiff_t count_below(float value) const;
  double score_of_rank(double rank) const { return scores_[static_cast<size_t>(2 * rank)]; }

  std::span<const float> quantiles_;
  std::span<const double> scores_;
};

}  // namespace trainer::data
