// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "devices/results.h"

namespace trainer::bench {

/// How the times of two rows of a workload relate: two times are equal within 5 %, and unclear if
/// the noise is larger than the difference.
enum class Order { kFaster, kSlower, kEqual, kUnclear };

/// The times of a row relative to another one, by the ratios of their rounds. Rows of a workload
/// are measured in turn, so what disturbs a round disturbs both.
struct RelativeTime {
  double median = 1;
  double low = 1;  // the 95 % confidence interval of the median
  double high = 1;
};

/// The times of `row` relative to those of `other`; both need as many rounds, at least one.
RelativeTime relative_time(const Row& row, const Row& other);

/// kFaster if `row` takes less time than `other` beyond 5 % and beyond the noise.
Order compare_speed(const Row& row, const Row& other);

/// Why the times of rows of a workload cannot be compared, as part of a sentence: other programs
/// used the CPU, or there are too few rounds. Empty if they can.
std::string why_incomparable(std::span<const Row> workload);

/// Why the times of a row are no basis for a recommendation: they changed too much from round to
/// round. Empty if they are.
std::string why_unsteady(const Row& row);

}  // namespace trainer::bench
