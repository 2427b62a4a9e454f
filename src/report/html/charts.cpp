// SPDX-License-Identifier: Apache-2.0
#include "report/html/charts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/parse.h"
#include "trainer/metrics/score.h"

#include "report/html/run_series.h"

namespace trainer::report {
namespace {

/// A series of values and the index of its run.
struct OfRun {
  std::size_t run;
  RunSeries series;
};

std::string title_of(const std::string& field) {
  if (field == "learning_rate") return "learning rate";
  if (field == "grad_norm") return "gradient norm";
  if (field == "samples_per_second") return "samples per second";
  if (field == "memory_bytes") return "memory (MiB)";
  if (field == "device_memory_bytes") return "memory of the device (MiB)";
  if (field == "loss_scale") return "loss scale";
  return metrics::shown_name(field);
}

/// Returns the order of the charts: the loss, then other metrics, then everything else.
int rank_of(const std::string& field) {
  if (field == "loss") return 0;
  return metrics::is_score(field) ? 1 : 2;
}

Json series_json(OfRun& of_run, bool has_both) {
  constexpr double kMebibyte = 1 << 20;
  RunSeries& series = of_run.series;
  if (series.field.ends_with("memory_bytes")) {
    for (double& value : series.values) value /= kMebibyte;
  }
  thin_out(series.steps, series.values, kMaxPoints);
  return {{"run", of_run.run},
          {"name", series.split},
          {"dash", has_both && series.split == "train"},
          {"faint", series.is_steps},
          {"x", number_list(series.steps)},
          {"y", number_list(series.values)}};
}

Json chart_json(const std::string& field, std::vector<OfRun>& all) {
  const auto any = [&](const auto& is_so) { return std::any_of(all.begin(), all.end(), is_so); };
  const bool has_both = any([](const OfRun& s) { return s.series.split == "val"; });
  const bool is_positive = !any([](const OfRun& s) {
    return std::any_of(s.series.values.begin(), s.series.values.end(),
                       [](double value) { return value < 0; });
  });
  Json series = Json::array();
  for (OfRun& of_run : all) series.push_back(series_json(of_run, has_both));
  return {{"title", title_of(field)},
          {"x", "step"},
          {"positive", is_positive},
          {"series", std::move(series)}};
}

}  // namespace

Json number_list(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) {
    if (std::isfinite(value)) {
      list.push_back(parse_double(fmt::format("{:.6g}", value)).value_or(0));
    } else {
      list.push_back(nullptr);
    }
  }
  return list;
}

Json curve_charts(const std::vector<tracking::RunEntry>& entries) {
  using Field = std::pair<std::string, std::vector<OfRun>>;
  std::vector<Field> fields;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind != tracking::Kind::kRun) continue;
    for (RunSeries& series : read_series(entries[i].folder)) {
      auto found = std::find_if(fields.begin(), fields.end(),
                                [&](const Field& field) { return field.first == series.field; });
      if (found == fields.end()) found = fields.insert(found, {series.field, {}});
      found->second.push_back({i, std::move(series)});
    }
  }
  std::stable_sort(fields.begin(), fields.end(), [](const Field& a, const Field& b) {
    return rank_of(a.first) < rank_of(b.first);
  });
  Json charts = Json::array();
  for (auto& [field, all] : fields) charts.push_back(chart_json(field, all));
  return charts;
}

}  // namespace trainer::report
