// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/split/split.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/philox.h"

#include "table/split/split_dataset.h"

namespace trainer::data {
namespace {

/// Divides `total` rows among the classes in proportion to `class_sizes`, by largest remainder;
/// of each class `left` rows are still free. Exact arithmetic, so that every machine agrees.
std::vector<int64_t> apportion(int64_t total, const std::vector<int64_t>& class_sizes,
                               const std::vector<int64_t>& left) {
  const int64_t sum = std::accumulate(class_sizes.begin(), class_sizes.end(), int64_t{0});
  const int64_t num_rows = std::max<int64_t>(1, sum);
  std::vector<int64_t> counts(class_sizes.size());
  std::vector<size_t> by_claim(class_sizes.size());
  int64_t missing = total;
  for (size_t c = 0; c < counts.size(); ++c) {
    counts[c] = total * class_sizes[c] / num_rows;
    missing -= counts[c];
  }
  std::iota(by_claim.begin(), by_claim.end(), size_t{0});
  // A class gives its last row only when no other has one: it could not be learned without.
  const auto spares_a_row = [&](size_t c) { return left[c] - counts[c] > 1; };
  const auto remainder = [&](size_t c) { return total * class_sizes[c] % num_rows; };
  std::stable_sort(by_claim.begin(), by_claim.end(), [&](size_t a, size_t b) {
    if (spares_a_row(a) != spares_a_row(b)) return spares_a_row(a);
    return remainder(a) > remainder(b);
  });
  // One round is nearly always enough; a second comes when classes have nothing left to give.
  while (missing > 0) {
    for (const size_t c : by_claim) {
      if (missing == 0) break;
      if (counts[c] == left[c]) continue;
      ++counts[c];
      --missing;
    }
  }
  return counts;
}

std::vector<int64_t> sizes_of_classes(std::span<const int64_t> classes) {
  std::vector<int64_t> sizes;
  for (const int64_t c : classes) {
    if (static_cast<size_t>(c) >= sizes.size()) sizes.resize(static_cast<size_t>(c) + 1);
    ++sizes[static_cast<size_t>(c)];
  }
  return sizes;
}

// The rows in a random order that is the same for every fold of so many.
Array<int64_t> random_order(size_t num_rows, const SplitOptions& options) {
  Array<int64_t> order;
  order.resize_for_overwrite(num_rows);
  std::iota(order.begin(), order.end(), int64_t{0});
  PhiloxStream random(options.seed, StreamId::kSplit, options.repeat);
  shuffle(order, random);
  return order;
}

/// Takes so many rows of each class for `split`, the first in `order` that are in no split yet.
void take_rows_for(Split split, std::vector<int64_t> wanted, std::span<const int64_t> classes,
                   std::span<const int64_t> order, std::span<Split> splits) {
  int64_t num_left = std::accumulate(wanted.begin(), wanted.end(), int64_t{0});
  for (const int64_t row : order) {
    if (num_left == 0) break;
    int64_t& left = wanted[static_cast<size_t>(classes[static_cast<size_t>(row)])];
    if (left == 0 || splits[static_cast<size_t>(row)] != Split::kTrain) continue;
    splits[static_cast<size_t>(row)] = split;
    --left;
    --num_left;
  }
}

/// Groups that are still free, in a random order.
struct FreeGroups {
  std::vector<int64_t> order;
  std::vector<int64_t> sizes;  // [num_groups]
};

/// Takes groups for a split of `wanted` rows: each that brings it nearer to that, and at least one.
void take_groups(FreeGroups& free, int64_t wanted, Split split,
                 std::vector<Split>& split_of_group) {
  int64_t left = wanted;
  std::vector<int64_t> others;
  for (const int64_t group : free.order) {
    const int64_t size = free.sizes[static_cast<size_t>(group)];
    if (size >= 2 * left) {
      others.push_back(group);
      continue;
    }
    left -= size;
    split_of_group[static_cast<size_t>(group)] = split;
  }
  if (wanted > 0 && others.size() == free.order.size()) {
    const auto smallest = std::min_element(others.begin(), others.end(), [&](int64_t a, int64_t b) {
      return free.sizes[static_cast<size_t>(a)] < free.sizes[static_cast<size_t>(b)];
    });
    split_of_group[static_cast<size_t>(*smallest)] = split;
    others.erase(smallest);
  }
  free.order = std::move(others);
}

/// One of several folds, [1, count].
struct Fold {
  int64_t count;
  int64_t number;
};

/// Deals the rows that are in no split yet out to the folds, one class after the other, and gives
/// one fold to `split`.
void take_fold(Split split, const Fold& fold, std::span<const int64_t> classes,
               std::span<const int64_t> order, std::span<Split> splits) {
  Array<int64_t> free_rows;
  for (const int64_t row : order) {
    if (splits[static_cast<size_t>(row)] == Split::kTrain) free_rows.push_back(row);
  }
  std::vector<int64_t> sizes;
  for (const int64_t row : free_rows) {
    const auto c = static_cast<size_t>(classes[static_cast<size_t>(row)]);
    if (c >= sizes.size()) sizes.resize(c + 1);
    ++sizes[c];
  }
  std::vector<int64_t> next(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), next.begin(), int64_t{0});
  for (const int64_t row : free_rows) {
    int64_t& next_index = next[static_cast<size_t>(classes[static_cast<size_t>(row)])];
    if (next_index % fold.count == fold.number - 1) splits[static_cast<size_t>(row)] = split;
    ++next_index;
  }
}

/// Of each class, the rows that are in no split yet.
std::vector<int64_t> rows_left(std::span<const int64_t> classes, const std::span<Split> splits,
                               size_t num_classes) {
  std::vector<int64_t> left(num_classes);
  for (size_t row = 0; row < splits.size(); ++row) {
    if (splits[row] == Split::kTrain) ++left[static_cast<size_t>(classes[row])];
  }
  return left;
}

/// Gives the groups of the fold to `split` and keeps the others free.
void take_fold(FreeGroups& free, const Fold& fold, Split split,
               std::vector<Split>& split_of_group) {
  const auto group_size = [&](int64_t group) { return free.sizes[static_cast<size_t>(group)]; };
  std::vector<int64_t> by_size = free.order;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](int64_t a, int64_t b) { return group_size(a) > group_size(b); });
  std::vector<int64_t> rows_of_fold(static_cast<size_t>(fold.count));
  for (const int64_t group : by_size) {
    const auto smallest = std::min_element(rows_of_fold.begin(), rows_of_fold.end());
    *smallest += group_size(group);
    if (smallest - rows_of_fold.begin() == fold.number - 1) {
      split_of_group[static_cast<size_t>(group)] = split;
    }
  }
  std::erase_if(free.order,
                [&](int64_t group) { return split_of_group[static_cast<size_t>(group)] == split; });
}

int64_t num_rows(const FreeGroups& free) {
  return std::accumulate(
      free.order.begin(), free.order.end(), int64_t{0},
      [&](int64_t sum, int64_t group) { return sum + free.sizes[static_cast<size_t>(group)]; });
}

void require_groups(size_t num_groups, const SplitOptions& options, const SplitSizes& wanted) {
  if (options.folds > 0) {
    const size_t needed = static_cast<size_t>(options.folds) + (wanted.validation > 0 ? 1 : 0);
    if (num_groups >= needed) return;
    throw Error(ErrorKind::kData,
                fmt::format("data.group: expected at least {} groups for {} folds{}, got {}; use "
                            "another column or fewer folds",
                            needed, options.folds,
                            wanted.validation > 0 ? " and a validation split" : "", num_groups));
  }
  const size_t num_splits = 1 + (wanted.validation > 0 ? 1 : 0) + (wanted.test > 0 ? 1 : 0);
  if (num_groups >= num_splits) return;
  throw Error(ErrorKind::kData,
              fmt::format("data.group: expected at least {} groups, one per split, got {}; use "
                          "another column, or 0 for data.validation_fraction or data.test_fraction",
                          num_splits, num_groups));
}

void require_validation_folds(size_t available, const char* what, const SplitOptions& options) {
  if (available >= static_cast<size_t>(options.validation_folds)) return;
  throw Error(
      ErrorKind::kData,
      fmt::format("data.validation_folds: expected at most {}, as many as there are {} that "
                  "are not in the test split, got {}",
                  available, what, options.validation_folds));
}

}  // namespace

SplitIndices split_rows(int64_t num_rows, std::span<const int64_t> strata,
                        const SplitOptions& options) {
  // Without strata all rows are of one class.
  const Array<int64_t> one_class(strata.empty() ? static_cast<size_t>(num_rows) : 0);
  const std::span<const int64_t> classes = strata.empty() ? one_class : strata;
  const std::vector<int64_t> sizes = sizes_of_classes(classes);
  const Array<int64_t> order = random_order(classes.size(), options);
  Array<Split> splits(classes.size(), Split::kTrain);
  SplitSizes wanted = split_sizes(num_rows, options);
  if (options.folds > 0) {
    take_fold(Split::kTest, {options.folds, options.fold}, classes, order, splits);
  } else {
    take_rows_for(Split::kTest, apportion(wanted.test, sizes, sizes), classes, order, splits);
  }
  const std::vector<int64_t> left = rows_left(classes, splits, sizes.size());
  const int64_t num_left = std::accumulate(left.begin(), left.end(), int64_t{0});
  if (options.validation_folds > 0) {
    require_validation_folds(static_cast<size_t>(num_left), "rows", options);
    take_fold(Split::kValidation, {options.validation_folds, options.validation_fold}, classes,
              order, splits);
    return split_by_column(splits);
  }
  const bool has_folds = options.folds > 0;
  if (has_folds) wanted.validation = validation_rows(num_left, options);
  take_rows_for(Split::kValidation, apportion(wanted.validation, has_folds ? left : sizes, left),
                classes, order, splits);
  return split_by_column(splits);
}

SplitIndices split_groups(std::span<const int64_t> groups, const SplitOptions& options) {
  SplitSizes wanted = split_sizes(static_cast<int64_t>(groups.size()), options);
  FreeGroups free{{}, sizes_of_classes(groups)};
  const size_t num_groups = free.sizes.size();
  require_groups(num_groups, options, wanted);
  const Array<int64_t> order = random_order(num_groups, options);
  free.order.assign(order.begin(), order.end());
  std::vector<Split> split_of_group(num_groups, Split::kTrain);
  if (options.folds > 0) {
    take_fold(free, {options.folds, options.fold}, Split::kTest, split_of_group);
    wanted.validation = validation_rows(num_rows(free), options);
  } else {
    take_groups(free, wanted.test, Split::kTest, split_of_group);
  }
  if (options.validation_folds > 0) {
    require_validation_folds(free.order.size(), "groups", options);
    take_fold(free, {options.validation_folds, options.validation_fold}, Split::kValidation,
              split_of_group);
  } else {
    take_groups(free, wanted.validation, Split::kValidation, split_of_group);
  }
  if (free.order.empty()) {
    throw Error(ErrorKind::kData,
                "data.group: no group left for training; use a smaller data.validation_fraction "
                "and data.test_fraction");
  }
  Array<Split> splits(groups.size());
  for (size_t row = 0; row < groups.size(); ++row) {
    splits[row] = split_of_group[static_cast<size_t>(groups[row])];
  }
  return split_by_column(splits);
}

SplitIndices split_by_column(std::span<const Split> splits) {
  SplitIndices split;
  const auto rows_of = [&](Split one) -> Array<int64_t>& {
    if (one == Split::kTrain) return split.train;
    return one == Split::kValidation ? split.validation : split.test;
  };
  for (const Split one : {Split::kTrain, Split::kValidation, Split::kTest}) {
    rows_of(one).reserve(static_cast<size_t>(std::count(splits.begin(), splits.end(), one)));
  }
  for (size_t row = 0; row < splits.size(); ++row) {
    rows_of(splits[row]).push_back(static_cast<int64_t>(row));
  }
  return split;
}

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
