// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/split/split_by_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "trainer/base/error.h"

#include "table/split/split_sizes.h"

namespace trainer::data {
namespace {

/// Rows from the earliest to the latest, and where among them a later time begins.
struct Timeline {
  Array<int64_t> rows;
  Array<int64_t> borders;  // ascending, without the beginning
};

Timeline make_timeline(std::span<const double> times) {
  const auto time_of = [&](int64_t row) { return times[static_cast<size_t>(row)]; };
  Timeline line;
  line.rows.resize(times.size());
  std::iota(line.rows.begin(), line.rows.end(), int64_t{0});
  std::stable_sort(line.rows.begin(), line.rows.end(),
                   [&](int64_t a, int64_t b) { return time_of(a) < time_of(b); });
  for (size_t i = 1; i < line.rows.size(); ++i) {
    if (time_of(line.rows[i - 1]) < time_of(line.rows[i])) {
      line.borders.push_back(static_cast<int64_t>(i));
    }
  }
  return line;
}

/// Of the borders from `first` to before `end`, the one nearest to `wanted`.
size_t nearest_border(const Timeline& line, size_t first, size_t end, double wanted) {
  size_t best = first;
  for (size_t i = first; i < end; ++i) {
    const auto distance = [&](size_t border) {
      return std::fabs(static_cast<double>(line.borders[border]) - wanted);
    };
    if (distance(i) < distance(best)) best = i;
  }
  return best;
}

void require_borders(const Timeline& line, size_t needed, const std::string& what_for) {
  if (line.borders.size() >= needed) return;
  throw Error(ErrorKind::kData, fmt::format("data.time: expected at least {} distinct times for "
                                            "{}, got {}; use another column or another data.split",
                                            needed + 1, what_for, line.borders.size() + 1));
}

/// Where the test split begins, as a border, and where it ends, as a row of the timeline.
struct TestRange {
  size_t begin = 0;
  int64_t end = 0;
};

TestRange test_fold(const Timeline& line, const SplitOptions& options, bool has_validation) {
  const auto num_folds = static_cast<size_t>(options.folds);
  const size_t num_before = has_validation ? 1 : 0;  // that the first fold trains on
  require_borders(
      line, num_folds + num_before,
      fmt::format("{} folds{}", num_folds, has_validation ? " and a validation split" : ""));
  const auto num_rows = static_cast<double>(line.rows.size());
  TestRange range{.begin = 0, .end = static_cast<int64_t>(line.rows.size())};
  size_t next = num_before;
  for (size_t fold = 1; fold <= num_folds; ++fold) {
    const double wanted = num_rows * static_cast<double>(fold) / static_cast<double>(num_folds + 1);
    const size_t border =
        nearest_border(line, next, line.borders.size() - (num_folds - fold), wanted);
    if (static_cast<int64_t>(fold) == options.fold) range.begin = border;
    if (static_cast<int64_t>(fold) == options.fold + 1) range.end = line.borders[border];
    next = border + 1;
  }
  return range;
}

}  // namespace

SplitIndices split_by_time(std::span<const double> times, const SplitOptions& options) {
  const Timeline line = make_timeline(times);
  const auto num_rows = static_cast<int64_t>(times.size());
  const SplitSizes wanted = split_sizes(num_rows, options);
  const bool has_validation = wanted.validation > 0;
  TestRange test{.begin = line.borders.size(), .end = num_rows};
  if (options.folds > 0) {
    test = test_fold(line, options, has_validation);
  } else {
    const size_t num_cuts = (has_validation ? 1 : 0) + (wanted.test > 0 ? 1 : 0);
    require_borders(line, num_cuts, fmt::format("{} splits", num_cuts + 1));
    if (wanted.test > 0) {
      test.begin = nearest_border(line, num_cuts - 1, line.borders.size(),
                                  static_cast<double>(num_rows - wanted.test));
    }
  }
  const int64_t test_begin =
      test.begin == line.borders.size() ? num_rows : line.borders[test.begin];
  int64_t validation_begin = test_begin;
  if (has_validation) {
    const int64_t count =
        options.folds > 0 ? validation_rows(test_begin, options) : wanted.validation;
    validation_begin =
        line.borders[nearest_border(line, 0, test.begin, static_cast<double>(test_begin - count))];
  }
  SplitIndices split;
  const auto take = [&](int64_t begin, int64_t end, Array<int64_t>& rows) {
    rows.assign(line.rows.begin() + begin, line.rows.begin() + end);
    std::sort(rows.begin(), rows.end());
  };
  take(0, validation_begin, split.train);
  take(validation_begin, test_begin, split.validation);
  take(test_begin, test.end, split.test);
  return split;
}

}  // namespace trainer::data
