// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace trainer::report {

/// Values of one field of metrics.jsonl over the steps.
struct RunSeries {
  std::string field;      // "loss", "learning_rate"
  std::string split;      // "train" or "val"
  bool is_steps = false;  // of records within an epoch, not of those that close one
  std::vector<double> steps;
  std::vector<double> values;  // NaN: not finite
};

/// Those of a run folder, in the order in which the file has them first. Lines that are no records
/// are left out.
std::vector<RunSeries> read_series(const std::filesystem::path& root);

/// At most `max_points` of a series: of neighbors the smallest and the largest value, so that no
/// peak is lost. The first and the last point stay.
void thin_out(std::vector<double>& x, std::vector<double>& y, std::size_t max_points);

}  // namespace trainer::report
