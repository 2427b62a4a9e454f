// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/table/schema/column.h"
#include "trainer/table/schema/value_index.h"

namespace trainer::data {

class Cells;
struct Table;

/// What was found in the cells of a column.
struct DriftCounts {
  int64_t num_rows = 0;
  int64_t num_missing = 0;
  int64_t num_unknown = 0;      // cells with a category that training lacks
  int64_t num_beyond = 0;       // numbers outside the range of those in training
  float low = 0;                // smallest number, if there are any
  float high = 0;               // largest number
  std::vector<int64_t> values;  // [shares of the profile]
};

/// Compares the cells of other rows with those that the columns were fitted to. Of a large table
/// it looks at a part of the rows only, so that it costs next to nothing.
class DriftCounter {
 public:
  /// `columns` must outlive it.
  explicit DriftCounter(std::span<const Column> columns);

  /// Counts the cells of a piece of a table that has all the columns, before they are encoded.
  /// Several threads may call it concurrently.
  void add(const Table& table);

  /// Returns a sentence for each column whose cells differ so much from those in training that
  /// neither chance nor a small shift explains it:
  /// - missing: the share of missing cells differs by more than 10 % of the rows;
  /// - unknown: over 5 % more of the values than expected are categories that training lacks; the
  ///   expectation is the share of the values that occurred once there (I. J. Good, "The population
  ///   frequencies of species and the estimation of population parameters", 1953);
  /// - out of range: over 1 % of the numbers are beyond those in training, or one is beyond them by
  ///   ten times their range;
  /// - distribution: the population stability index of the bins or of the ten most frequent
  ///   categories is above 0.25, the usual limit, and above what chance makes of so few rows.
  std::vector<std::string> differences() const;

 private:
  DriftCounts count(const Table& table, const Cells& cells, std::size_t index) const;

  std::span<const Column> columns_;
  std::vector<std::optional<ValueIndex>> categories_;  // [columns]
  mutable std::mutex mutex_;                           // guards counts_
  std::vector<DriftCounts> counts_;                    // [columns]
};

}  // namespace trainer::data
