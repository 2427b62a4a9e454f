// SPDX-License-Identifier: Apache-2.0
#include "report/html/run_series.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/io/read_text.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"
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

RunCurves read_curves(const std::filesystem::path& root) {
  RunCurves curves;
  read_json_lines(run::RunDir{root}.metrics(), [&](const JsonReader& record) {
    const std::optional<double> epoch = record.number("epoch");
    const std::optional<double> step = record.number("step");
    const bool is_first = curves.steps_per_epoch == 0 && record.has("time_seconds");
    if (is_first && epoch && step && *epoch > 0) curves.steps_per_epoch = *step / *epoch;
    add_record(record, curves.series);
  });
  return curves;
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

namespace {

namespace fs = std::filesystem;

/// Returns the log of the folder itself, or else the logs of the runs in it.
std::vector<fs::path> logs_of(const fs::path& folder) {
  std::error_code ignored;
  if (fs::exists(run::RunDir{folder}.log(), ignored)) return {run::RunDir{folder}.log()};
  std::vector<fs::path> logs;
  for (const auto& item : fs::directory_iterator(folder, ignored)) {
    const fs::path log = run::RunDir{item.path()}.log();
    if (!item.is_symlink(ignored) && fs::exists(log, ignored)) logs.push_back(log);
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

}  // namespace

std::vector<std::string> logged_warnings(const fs::path& folder) {
  // A line is "2026-11-27 00:41:38.123 warning text". Further lines of the text are indented.
  constexpr std::size_t kTime = std::string_view("2026-11-27 00:41:38.123 ").size();
  constexpr std::string_view kWarning = "warning ";
  std::vector<std::string> warnings;
  const auto add = [&](const std::string& text) {
    const bool is_known = std::find(warnings.begin(), warnings.end(), text) != warnings.end();
    if (!text.empty() && !is_known) warnings.push_back(text);
  };
  for (const fs::path& log : logs_of(folder)) {
    std::istringstream file(read_text(log).value_or(""));
    std::string text;
    for (std::string line; std::getline(file, line);) {
      if (!text.empty() && line.starts_with("  ")) {
        text += " " + line.substr(2);
        continue;
      }
      add(text);
      const bool is_warning = line.size() > kTime && line.substr(kTime).starts_with(kWarning);
      text = is_warning ? line.substr(kTime + kWarning.size()) : "";
    }
    add(text);
  }
  return warnings;
}

namespace {

/// A series of values over the epochs, and the index of its run.
struct OfRun {
  std::size_t run;
  RunSeries series;
  std::optional<int64_t> best_epoch;
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
  Json marks = Json::array();
  for (OfRun& of_run : all) {
    const std::size_t run = of_run.run;
    const bool is_marked = !marks.empty() && marks.back()["run"] == run;
    if (of_run.best_epoch && !is_marked) marks.push_back({{"run", run}, {"x", *of_run.best_epoch}});
    series.push_back(series_json(of_run, has_both));
  }
  return {{"title", title_of(field)},
          {"x", "epoch"},
          {"marks", std::move(marks)},
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
    const JsonReader best = JsonReader::of_file(run::RunDir{entries[i].folder}.summary())["best"];
    std::optional<int64_t> best_epoch;
    if (best.has("epoch")) best_epoch = best.integer("epoch");
    RunCurves curves = read_curves(entries[i].folder);
    for (RunSeries& series : curves.series) {
      if (curves.steps_per_epoch > 0) {
        for (double& step : series.steps) step /= curves.steps_per_epoch;
      }
      auto found = std::find_if(fields.begin(), fields.end(),
                                [&](const Field& field) { return field.first == series.field; });
      if (found == fields.end()) found = fields.insert(found, {series.field, {}});
      found->second.push_back({i, std::move(series), best_epoch});
    }
  }
  std::stable_sort(fields.begin(), fields.end(), [](const Field& a, const Field& b) {
    return rank_of(a.first) < rank_of(b.first);
  });
  Json charts = Json::array();
  for (auto& [field, of_runs] : fields) charts.push_back(chart_json(field, of_runs));
  return charts;
}

}  // namespace trainer::report
