// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/split.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/philox.h"
#include "trainer/core/text.h"

namespace trainer::data {
namespace {

int64_t rows_of_part(const char* key, double fraction, int64_t num_rows) {
  const int64_t count = std::llround(fraction * static_cast<double>(num_rows));
  if (fraction > 0 && count == 0) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: {} of {} rows is less than one row; use more data, a larger "
                            "fraction or 0",
                            key, shortest(fraction), with_thousands(num_rows)));
  }
  return count;
}

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
  // A class gives its last row only when no other has one: it could not be learnt without.
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

std::vector<Part> assign_parts(std::span<const int64_t> classes, std::vector<int64_t> validation,
                               std::vector<int64_t> test, uint64_t seed) {
  std::vector<int64_t> order(classes.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  PhiloxStream random(seed, Purpose::kSplit);
  shuffle(order, random);
  std::vector<Part> parts(classes.size(), Part::kTrain);
  for (const int64_t row : order) {
    const auto c = static_cast<size_t>(classes[static_cast<size_t>(row)]);
    Part& part = parts[static_cast<size_t>(row)];
    if (test[c] > 0) {
      part = Part::kTest;
      --test[c];
    } else if (validation[c] > 0) {
      part = Part::kValidation;
      --validation[c];
    }
  }
  return parts;
}

struct PartSizes {
  int64_t validation = 0;
  int64_t test = 0;
};

PartSizes sizes_of_parts(int64_t num_rows, const SplitOptions& options) {
  const PartSizes sizes = {
      rows_of_part("data.validation_fraction", options.validation_fraction, num_rows),
      rows_of_part("data.test_fraction", options.test_fraction, num_rows)};
  if (sizes.validation + sizes.test >= num_rows) {
    throw Error(ErrorKind::kData,
                fmt::format("no rows left to train on: of {} rows {} are for validation and {} for "
                            "test; use more data or smaller data.validation_fraction and "
                            "data.test_fraction",
                            with_thousands(num_rows), with_thousands(sizes.validation),
                            with_thousands(sizes.test)));
  }
  return sizes;
}

/// Groups that are still free, in a random order.
struct FreeGroups {
  std::vector<int64_t> order;
  std::vector<int64_t> sizes;  // [num_groups]
};

/// Takes groups for a part of `wanted` rows: each that brings it nearer to that, and at least one.
void take_groups(FreeGroups& free, int64_t wanted, Part part, std::vector<Part>& part_of_group) {
  int64_t left = wanted;
  std::vector<int64_t> others;
  for (const int64_t group : free.order) {
    const int64_t size = free.sizes[static_cast<size_t>(group)];
    if (size >= 2 * left) {
      others.push_back(group);
      continue;
    }
    left -= size;
    part_of_group[static_cast<size_t>(group)] = part;
  }
  if (wanted > 0 && others.size() == free.order.size()) {
    const auto smallest = std::min_element(others.begin(), others.end(), [&](int64_t a, int64_t b) {
      return free.sizes[static_cast<size_t>(a)] < free.sizes[static_cast<size_t>(b)];
    });
    part_of_group[static_cast<size_t>(*smallest)] = part;
    others.erase(smallest);
  }
  free.order = std::move(others);
}

}  // namespace

Split split_rows(int64_t num_rows, std::span<const int64_t> strata, const SplitOptions& options) {
  const PartSizes wanted = sizes_of_parts(num_rows, options);
  // Without strata all rows are of one class.
  const std::vector<int64_t> one_class(strata.empty() ? static_cast<size_t>(num_rows) : 0);
  const std::span<const int64_t> classes = strata.empty() ? one_class : strata;

  const std::vector<int64_t> sizes = sizes_of_classes(classes);
  const std::vector<int64_t> test = apportion(wanted.test, sizes, sizes);
  std::vector<int64_t> left = sizes;
  for (size_t c = 0; c < left.size(); ++c) left[c] -= test[c];
  const std::vector<int64_t> validation = apportion(wanted.validation, sizes, left);
  return split_by_part(assign_parts(classes, validation, test, options.seed));
}

Split split_groups(std::span<const int64_t> groups, const SplitOptions& options) {
  const PartSizes wanted = sizes_of_parts(static_cast<int64_t>(groups.size()), options);
  FreeGroups free{{}, sizes_of_classes(groups)};
  const size_t num_groups = free.sizes.size();
  const size_t num_parts = 1 + (wanted.validation > 0 ? 1 : 0) + (wanted.test > 0 ? 1 : 0);
  if (num_groups < num_parts) {
    throw Error(
        ErrorKind::kData,
        fmt::format("data.group: expected at least {} groups for as many parts, got {}; use "
                    "another column, or 0 for data.validation_fraction or "
                    "data.test_fraction",
                    num_parts, num_groups));
  }
  free.order.resize(num_groups);
  std::iota(free.order.begin(), free.order.end(), int64_t{0});
  PhiloxStream random(options.seed, Purpose::kSplit);
  shuffle(free.order, random);
  std::vector<Part> part_of_group(num_groups, Part::kTrain);
  take_groups(free, wanted.test, Part::kTest, part_of_group);
  take_groups(free, wanted.validation, Part::kValidation, part_of_group);
  if (free.order.empty()) {
    throw Error(ErrorKind::kData,
                "data.group: no group is left to train on; use smaller data.validation_fraction "
                "and data.test_fraction");
  }
  std::vector<Part> parts(groups.size());
  for (size_t row = 0; row < groups.size(); ++row) {
    parts[row] = part_of_group[static_cast<size_t>(groups[row])];
  }
  return split_by_part(parts);
}

Split split_by_part(std::span<const Part> parts) {
  Split split;
  for (size_t row = 0; row < parts.size(); ++row) {
    std::vector<int64_t>& rows = parts[row] == Part::kTrain        ? split.train
                                 : parts[row] == Part::kValidation ? split.validation
                                                                   : split.test;
    rows.push_back(static_cast<int64_t>(row));
  }
  return split;
}

}  // namespace trainer::data
