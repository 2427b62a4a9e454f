// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "devices/measurement.h"
#include "devices/options.h"
#include "devices/plan.h"

namespace trainer::bench {

/// The rows as benchmarks of Google Benchmark, which selects them by its flags and prints its
/// formats. It can only measure one row after the other, so it is given times that were measured
/// before.
class GoogleRows {
 public:
  /// Registers the rows. Throws Error(kUsage) for an unknown flag. `plan` and `options` must
  /// outlive it, and it all calls of Google Benchmark.
  GoogleRows(const Plan& plan, const Options& options);

  /// How often each row is to be measured: 0 if --benchmark_filter leaves it out. With
  /// --benchmark_list_tests, prints the list and leaves all out.
  const std::vector<int64_t>& requested_repetitions();

  /// Prints and writes what its flags ask for.
  void report(std::span<const RowTimes> times);

  /// Whether standard output is in its format.
  bool has_own_display() const { return has_flag("--benchmark_format"); }
  bool only_lists() const { return has_flag("--benchmark_list_tests"); }

 private:
  bool has_flag(const std::string& flag) const;

  const Options& options_;
  std::vector<std::string> words_;     // of its command line, to which it keeps pointers
  std::vector<int64_t> requested_;     // [plan.rows]
  std::vector<std::size_t> reported_;  // [plan.rows] repetitions
  std::span<const RowTimes> times_;    // [plan.rows]; empty: not measured yet
};

}  // namespace trainer::bench
