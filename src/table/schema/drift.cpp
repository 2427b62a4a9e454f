// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/drift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/table/schema/value_index.h"
#include "trainer/table/table.h"

#include "table/schema/fit_schema.h"

namespace trainer::data {
namespace {

/// One of so many rows of a piece is looked at: all of a small table, else so few that it costs
/// next to nothing. Does not depend on which thread reads the piece.
std::size_t step_of(const Table& table) {
  constexpr int64_t kRowsOfAPiece = 512;
  constexpr int64_t kManyRows = 10'000;
  constexpr int64_t kStep = 8;
  const bool is_far_behind = !table.lines.empty() && table.lines.front() > kManyRows;
  return static_cast<std::size_t>(
      std::max(is_far_behind ? kStep : 1, table.features.num_rows / kRowsOfAPiece));
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

/// Whether so many of `num_values` values are unlike all those of the training that chance does not
/// explain it, where a share of `expected` was to be expected. What is 14 / n of all values is
/// missed by n training rows with a probability of exp(-14), one in a million; to that come six
/// standard deviations of a Poisson distribution.
bool is_beyond_chance(double count, double num_values, double expected, double num_trained) {
  constexpr double kMissed = 14;
  constexpr double kDeviations = 6;
  constexpr double kFewest = 3;
  const double limit = num_values * (expected + kMissed / num_trained);
  return count >= kFewest && count > limit + kDeviations * std::sqrt(limit + 1);
}

/// Two shares of rows with the numbers of the rows: the standard score of their difference.
double standard_score(double a, double num_a, double b, double num_b) {
  const double pooled = (a * num_a + b * num_b) / (num_a + num_b);
  const double variance = pooled * (1 - pooled) * (1 / num_a + 1 / num_b);
  return variance > 0 ? (a - b) / std::sqrt(variance) : 0;
}

/// The shares and counts of the ten largest shares, and of all others together.
struct Bins {
  std::vector<double> shares;
  std::vector<double> counts;
};

Bins largest_bins(const ColumnProfile& profile, std::span<const int64_t> counts,
                  int64_t num_unknown) {
  constexpr std::size_t kMaxBins = 10;
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return profile.shares[a] > profile.shares[b];
  });
  const std::size_t num_bins = std::min(kMaxBins, order.size()) + 1;
  Bins bins{std::vector<double>(num_bins), std::vector<double>(num_bins)};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t bin = std::min(i, num_bins - 1);
    bins.shares[bin] += static_cast<double>(profile.shares[order[i]]);
    bins.counts[bin] += static_cast<double>(counts[order[i]]);
  }
  bins.counts.back() += static_cast<double>(num_unknown);
  return bins;
}

/// The population stability index, with half a row more in each bin so that none is empty; nothing
/// if chance may make it so large: for rows of the same distribution it is about chi-squared with
/// as many degrees of freedom as bins, times the variance of a share.
std::optional<double> stability_index(const Bins& bins, double num_rows, double num_trained) {
  constexpr double kLimit = 0.25;
  constexpr double kPrior = 0.5;
  constexpr double kDeviations = 6;
  const auto num_bins = static_cast<double>(bins.shares.size());
  double index = 0;
  for (std::size_t i = 0; i < bins.shares.size(); ++i) {
    const double trained =
        (bins.shares[i] * num_trained + kPrior) / (num_trained + kPrior * num_bins);
    const double found = (bins.counts[i] + kPrior) / (num_rows + kPrior * num_bins);
    index += (found - trained) * std::log(found / trained);
  }
  const double by_chance =
      (num_bins + kDeviations * std::sqrt(2 * num_bins)) * (1 / num_rows + 1 / num_trained);
  if (index <= std::max(kLimit, by_chance)) return std::nullopt;
  return index;
}

void add_number(float cell, const ColumnProfile& profile, DriftCounts& counts) {
  const bool is_first = counts.num_rows == counts.num_missing + 1;
  counts.low = is_first ? cell : std::min(counts.low, cell);
  counts.high = is_first ? cell : std::max(counts.high, cell);
  counts.num_beyond += cell < profile.low || cell > profile.high ? 1 : 0;
  ++counts.values[bin_of(profile, cell)];
}

void merge(const DriftCounts& from, DriftCounts& to) {
  if (from.num_rows > from.num_missing) {
    const bool is_first = to.num_rows == to.num_missing;
    to.low = is_first ? from.low : std::min(to.low, from.low);
    to.high = is_first ? from.high : std::max(to.high, from.high);
  }
  to.num_rows += from.num_rows;
  to.num_missing += from.num_missing;
  to.num_unknown += from.num_unknown;
  to.num_beyond += from.num_beyond;
  for (std::size_t i = 0; i < to.values.size(); ++i) to.values[i] += from.values[i];
}

}  // namespace

DriftCounter::DriftCounter(std::span<const Column> columns)
    : columns_(columns), categories_(columns.size()), counts_(columns.size()) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].profile.num_rows == 0) continue;
    counts_[i].values.resize(columns[i].profile.shares.size());
    if (columns[i].kind == ColumnKind::kCategorical) categories_[i].emplace(columns[i].categories);
  }
}

void DriftCounter::add(const Table& table) {
  const Cells cells(table);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!is_feature(columns_[i]) || columns_[i].profile.num_rows == 0) continue;
    const DriftCounts counts = count(table, cells, i);
    const std::lock_guard lock(mutex_);
    merge(counts, counts_[i]);
  }
}

DriftCounts DriftCounter::count(const Table& table, const Cells& cells, std::size_t index) const {
  const Column& column = columns_[index];
  const std::size_t cell_column = cells.index_of(column);
  DriftCounts counts;
  counts.values.resize(column.profile.shares.size());
  const auto num_rows = static_cast<std::size_t>(table.features.num_rows);
  const std::size_t step = step_of(table);
  for (std::size_t first = 0; first < num_rows; first += step) {
    const float cell = cells.at(sampled_row(first, step, num_rows), cell_column);
    ++counts.num_rows;
    if (std::isnan(cell)) {
      ++counts.num_missing;
    } else if (column.kind == ColumnKind::kNumeric) {
      add_number(cell, column.profile, counts);
    } else {
      const std::string& text = table.dictionaries[cell_column][static_cast<std::size_t>(cell)];
      const std::optional<std::size_t> category = categories_[index]->find(text);
      if (!category) ++counts.num_unknown;
      if (category) ++counts.values[*category];
    }
  }
  return counts;
}

namespace {

/// What is to be said of a column, or nothing; one kind of difference each.
std::string missing_difference(const ColumnProfile& profile, const DriftCounts& counts) {
  constexpr double kLeastShare = 0.1;
  constexpr double kLeastScore = 5;
  constexpr double kFewest = 3;  // rows
  const auto num_rows = static_cast<double>(counts.num_rows);
  const double missing = static_cast<double>(counts.num_missing) / num_rows;
  const double score =
      standard_score(missing, num_rows, profile.missing, static_cast<double>(profile.num_rows));
  const double difference = std::abs(missing - profile.missing);
  if (difference <= kLeastShare || difference * num_rows < kFewest ||
      std::abs(score) <= kLeastScore) {
    return "";
  }
  return fmt::format("{} of the cells are missing, {} in training", percent(missing),
                     percent(profile.missing));
}

std::string unknown_difference(const ColumnProfile& profile, double num_trained,
                               const DriftCounts& counts, double num_values) {
  constexpr double kLeastShare = 0.05;
  const double more_than_once = 1.5 / num_trained;
  double expected = 0;
  for (const float share : profile.shares) {
    if (static_cast<double>(share) < more_than_once) expected += static_cast<double>(share);
  }
  const auto num_unknown = static_cast<double>(counts.num_unknown);
  const double share = num_unknown / num_values;
  if (share - expected <= kLeastShare ||
      !is_beyond_chance(num_unknown, num_values, expected, num_trained)) {
    return "";
  }
  return fmt::format("{} of the values are categories that were not in training", percent(share));
}

std::string range_difference(const Column& column, double num_trained, const DriftCounts& counts,
                             double num_values) {
  constexpr double kLeastShare = 0.01;
  constexpr float kFar = 10;
  const ColumnProfile& profile = column.profile;
  const auto num_beyond = static_cast<double>(counts.num_beyond);
  const float range = profile.high - profile.low;
  const bool is_far = range > 0 && (counts.low < profile.low - kFar * range ||
                                    counts.high > profile.high + kFar * range);
  const bool are_many = num_beyond / num_values > kLeastShare &&
                        is_beyond_chance(num_beyond, num_values, 0, num_trained);
  if (!is_far && !are_many) return "";
  const auto text = [&](float number) { return text_in_file_units(column, number); };
  return fmt::format("{} of the numbers are beyond those in training, {} to {}; they are {} to {}",
                     percent(num_beyond / num_values), text(profile.low), text(profile.high),
                     text(counts.low), text(counts.high));
}

std::string difference(const Column& column, const DriftCounts& counts) {
  const ColumnProfile& profile = column.profile;
  if (std::string text = missing_difference(profile, counts); !text.empty()) return text;
  const double num_trained = static_cast<double>(profile.num_rows) * (1 - profile.missing);
  const auto num_values = static_cast<double>(counts.num_rows - counts.num_missing);
  if (num_values == 0) return "";
  std::string text = column.kind == ColumnKind::kCategorical
                         ? unknown_difference(profile, num_trained, counts, num_values)
                         : range_difference(column, num_trained, counts, num_values);
  if (!text.empty()) return text;
  const std::optional<double> index = stability_index(
      largest_bins(profile, counts.values, counts.num_unknown), num_values, num_trained);
  if (!index) return "";
  return fmt::format(
      "the values are distributed otherwise than in training (population stability index {:.2f})",
      *index);
}

}  // namespace

std::vector<std::string> DriftCounter::differences() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (counts_[i].num_rows == 0) continue;
    const std::string text = difference(columns_[i], counts_[i]);
    if (!text.empty()) lines.push_back(fmt::format("{}: {}", in_quotes(columns_[i].name), text));
  }
  return lines;
}

}  // namespace trainer::data
