// SPDX-License-Identifier: Apache-2.0
#include "report/html/run_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "trainer/base/text/json_reader.h"
#include "trainer/metrics/score.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::report {
namespace {

constexpr double kNotFinite = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 6> kFields = {"learning_rate",       "grad_norm",
                                                     "samples_per_second",  "memory_bytes",
                                                     "device_memory_bytes", "loss_scale"};

bool is_drawn(const std::string& field) {
  return metrics::is_score(field) ||
         std::find(kFields.begin(), kFields.end(), field) != kFields.end();
}

RunSeries& find_series(std::vector<RunSeries>& all, const std::string& field,
                       const std::string& split, bool is_steps) {
  for (RunSeries& series : all) {
    if (series.field == field && series.split == split && series.is_steps == is_steps) {
      return series;
    }
  }
  return all.emplace_back(RunSeries{field, split, is_steps, {}, {}});
}

void add_record(const JsonReader& record, std::vector<RunSeries>& all) {
  const std::optional<double> step = record.number("step");
  std::string split = record.text("split");
  if (!step || split == "test") return;
  if (split == "validation") split = "val";  // its name in files before 0.1.0
  const bool closes_epoch = record.has("time_seconds");
  for (const auto& [field, value] : record.entries()) {
    if (!is_drawn(field)) continue;
    // Fields that are not scores describe a moment, so both kinds of records continue one series.
    const bool is_score = metrics::is_score(field);
    RunSeries& series = find_series(all, field, split, is_score && !closes_epoch);
    series.steps.push_back(*step);
    series.values.push_back(value.is_null() ? kNotFinite : value.number());
  }
}

}  // namespace

std::vector<RunSeries> read_series(const std::filesystem::path& root) {
  std::vector<RunSeries> all;
  read_json_lines(run::RunDir{root}.metrics(),
                  [&](const JsonReader& record) { add_record(record, all); });
  return all;
}

void thin_out(std::vector<double>& x, std::vector<double>& y, std::size_t max_points) {
  const std::size_t count = x.size();
  if (count <= max_points) return;
  const std::size_t num_parts = (max_points - 2) / 2;
  std::vector<double> thin_x = {x.front()};
  std::vector<double> thin_y = {y.front()};
  const auto keep = [&](std::size_t i) {
    thin_x.push_back(x[i]);
    thin_y.push_back(y[i]);
  };
  // NaN is neither smaller nor larger than another value.
  const auto is_less = [&](std::size_t a, std::size_t b) { return y[a] < y[b]; };
  for (std::size_t part = 0; part < num_parts; ++part) {
    const std::size_t begin = 1 + part * (count - 2) / num_parts;
    const std::size_t end = 1 + (part + 1) * (count - 2) / num_parts;
    std::size_t low = begin;
    std::size_t high = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (std::isnan(y[low]) || is_less(i, low)) low = i;
      if (std::isnan(y[high]) || is_less(high, i)) high = i;
    }
    keep(std::min(low, high));
    if (low != high) keep(std::max(low, high));
  }
  keep(count - 1);
  x = std::move(thin_x);
  y = std::move(thin_y);
}

}  // namespace trainer::report
