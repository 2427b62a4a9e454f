// SPDX-License-Identifier: Apache-2.0
#include "trainer/report/html/report.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/model.h"
#include "trainer/apply/prediction_text.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/version.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/config/fields.h"
#include "trainer/metrics/score.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/run/folder/system_info.h"
#include "trainer/run/tracking/comparison.h"
#include "trainer/run/tracking/query.h"

#include "report/html/evaluation.h"
#include "report/html/importance.h"
#include "report/html/page.h"
#include "report/html/run_series.h"

namespace trainer::report {
namespace {

using tracking::RunEntry;

constexpr std::size_t kMaxColumns = 300;

Json settings(const RunEntry& entry) {
  const config::Config defaults;
  Json rows = Json::array();
  for (const auto& [key, value] : entry.settings) {
    rows.push_back({key, value, config::value_text(key, defaults)});
  }
  return rows;
}

std::string text_of(const JsonReader& value) {
  return value.json().is_string() ? value.text() : value.json().dump();
}

std::string bytes_text(const JsonReader& num_bytes) {
  return human_bytes(static_cast<uint64_t>(num_bytes.integer()));
}

/// Returns names and values of system.json: machine, build, accelerators, data files and starts.
Json system_rows(const JsonReader& system) {
  Json rows = Json::array();
  for (const char* section : {"host", "build"}) {
    for (const auto& [name, value] : system[section].entries()) {
      rows.push_back({name, name == "memory_bytes" ? bytes_text(value) : text_of(value)});
    }
  }
  if (system.has("blas")) rows.push_back({"blas", text_of(system["blas"])});
  for (const JsonReader& accelerator : system["accelerators"].elements()) {
    rows.push_back({"accelerator", run::accelerator_text(accelerator)});
  }
  for (const JsonReader& file : system["data_files"].elements()) {
    rows.push_back({"data", fmt::format("{}, {}, CRC-32 {}", file.text("path"),
                                        bytes_text(file["num_bytes"]), file.text("crc32"))});
  }
  for (const JsonReader& start : system["starts"].elements()) {
    rows.push_back(
        {"start", fmt::format("{} on {}, {} threads, {}", start.text("time"), start.text("device"),
                              start.integer("threads"), start.text("step"))});
  }
  return rows;
}

/// Returns system.json and its rows. If the file is damaged, the rows say so, and the rest of the
/// report does without it.
std::pair<JsonReader, Json> read_system(const RunEntry& entry) {
  try {
    JsonReader system = JsonReader::of_file(run::RunDir{entry.folder}.system());
    Json rows = system_rows(system);
    return {std::move(system), std::move(rows)};
  } catch (const Error& e) {
    return {JsonReader(Json()), Json::array({Json::array({"problem", e.what()})})};
  }
}

Json run_json(const RunEntry& entry, std::size_t run) {
  const auto [system, rows] = read_system(entry);
  Json json = {{"letter", tracking::letter_of(run)},
               {"name", entry.name},
               {"folder", entry.folder.string()},
               {"state", to_text(entry.state)},
               {"reason", entry.reason},
               {"started", entry.started},
               {"time", tracking::shown_value(entry, "time")},
               {"epochs", tracking::shown_value(entry, "epochs")},
               {"unit", entry.kind == tracking::Kind::kRun ? "epochs" : ""},
               {"note", entry.note},
               {"warnings", logged_warnings(entry.folder)},
               {"settings", settings(entry)},
               {"system", rows}};
  if (const auto starts = system["starts"].elements(); !starts.empty()) {
    json["command"] = starts.front().text("command_line");
    json["device"] = starts.front().text("device");
  }
  return json;
}

Json metric_rows(const tracking::Comparison& comparison) {
  Json rows = Json::array();
  for (const tracking::ComparedRow& row : comparison.metrics) {
    Json added = {{"name", fmt::format("{} {}", row.name.substr(0, row.name.find('.')),
                                       metrics::shown_name(tracking::score_name(row.name)))},
                  {"values", row.values}};
    if (row.best && comparison.entries.size() > 1) added["best"] = *row.best;
    rows.push_back(std::move(added));
  }
  return rows;
}

Json difference_rows(const tracking::Comparison& comparison) {
  Json rows = Json::array();
  for (const tracking::ComparedRow& row : comparison.settings) {
    Json cells = {row.name};
    for (const std::string& value : row.values) cells.push_back(value);
    rows.push_back(std::move(cells));
  }
  return rows;
}

Json noise(const tracking::Comparison& comparison) {
  if (!comparison.differences) {
    return {{"text",
             "One run of each says little: other seeds alone make a difference. Compare two "
             "cross-validations (trainer cv), or several runs of each with other seeds."}};
  }
  Json rows = Json::array();
  for (const tracking::Difference& d : comparison.differences->metrics) {
    rows.push_back({d.metric, fmt::format("{:+.4g}", d.value),
                    fmt::format("{:+.4g} .. {:+.4g}", d.low, d.high),
                    d.is_noise() ? "within the noise" : "more than noise"});
  }
  return {{"head", {"metric", "second less first", "95 % interval", ""}},
          {"rows", std::move(rows)},
          {"text", fmt::format("Over {}.", comparison.differences->over)}};
}

/// Returns a row for each run of a cross-validation, and their mean and standard deviation; null
/// for anything else.
Json folds_json(const RunEntry& entry, const std::string& letter) {
  const JsonReader cv = JsonReader::of_file(entry.folder / run::kCrossValidationFile);
  const std::vector<JsonReader> runs = cv["runs"].elements();
  if (runs.empty()) return {};
  std::vector<std::string> names;
  for (const auto& [name, value] : runs.front().entries()) {
    if (metrics::is_score(name)) names.push_back(name);
  }
  Json head = {"run", "rows"};
  for (const std::string& name : names) head.push_back(metrics::shown_name(name));
  Json rows = Json::array();
  const auto add = [&](Json cells, const JsonReader& scores) {
    for (const std::string& name : names) {
      const std::optional<double> value = scores.number(name);
      cells.push_back(value ? metrics::score_text({name, *value}) : "-");
    }
    rows.push_back(std::move(cells));
  };
  for (const JsonReader& run : runs) {
    add({run.text("run"), with_thousands(run.integer("rows"))}, run);
  }
  for (const char* what : {"mean", "std"}) {
    if (cv.has(what)) add({what, ""}, cv[what]);
  }
  return {{"title", "Folds" + letter}, {"head", std::move(head)}, {"rows", std::move(rows)}};
}

/// Returns the metric by which runs are ordered: the first of these, smaller is better, that all of
/// them have; empty if there is none.
std::string leading_metric(const std::vector<RunEntry>& entries) {
  for (const char* split : {"val", "test"}) {
    for (const char* name : {"log_loss", "rmse", "loss"}) {
      const std::string metric = fmt::format("{}.{}", split, name);
      if (std::all_of(entries.begin(), entries.end(), [&](const RunEntry& entry) {
            return metrics::find_score(entry.metrics, metric).has_value();
          })) {
        return metric;
      }
    }
  }
  return "";
}

std::string predict_time(const Json& evaluations, std::size_t run) {
  for (const Json& found : evaluations) {
    if (found["run"] != run || !found.contains("predict_seconds")) continue;
    return human_duration(found["predict_seconds"].get<double>() /
                          std::max(found["rows"].get<double>(), 1.0) * 1000);
  }
  return "-";
}

/// Returns the runs with what decides between them, the best one first.
Json leaderboard(const std::vector<RunEntry>& entries, const Json& evaluations) {
  const std::string leading = leading_metric(entries);
  if (leading.empty()) return {};
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return *metrics::find_score(entries[a].metrics, leading) <
           *metrics::find_score(entries[b].metrics, leading);
  });
  const std::string name = tracking::score_name(leading);
  const bool has_classes =
      name != "rmse" && metrics::find_score(entries.front().metrics, "test.accuracy").has_value();
  std::vector<std::string> shown = {"val." + name, "test." + name};
  if (name == "rmse") shown.emplace_back("test.r2");
  if (has_classes) shown.emplace_back("test.accuracy");
  Json head = {"run"};
  for (const std::string& metric : shown) {
    head.push_back(fmt::format("{} {}", metric.starts_with("val") ? "validation" : "test",
                               metrics::shown_name(tracking::score_name(metric))));
  }
  for (const char* time : {"fit time", "predict 1,000 rows"}) head.push_back(time);
  Json rows = Json::array();
  for (const std::size_t run : order) {
    Json cells = {fmt::format("{} {}", tracking::letter_of(run), entries[run].name)};
    for (const std::string& metric : shown) {
      const std::optional<double> value = metrics::find_score(entries[run].metrics, metric);
      cells.push_back(value ? metrics::score_text({tracking::score_name(metric), *value}) : "-");
    }
    cells.push_back(tracking::shown_value(entries[run], "time"));
    cells.push_back(predict_time(evaluations, run));
    rows.push_back(std::move(cells));
  }
  return {{"head", std::move(head)}, {"rows", std::move(rows)}};
}

/// Describes the columns of the first run that has a model.
Json column_rows(const std::vector<RunEntry>& entries) {
  for (const RunEntry& entry : entries) {
    try {
      const apply::Model model = apply::load_model(entry.folder);
      Json rows = Json::array();
      for (const data::Column& column : model.schema.columns) {
        const std::string text = apply::column_text(column);
        const std::size_t comma = text.find_first_of(",:");
        rows.push_back({column.name, text.substr(0, comma),
                        comma == std::string::npos ? "" : text.substr(comma + 2)});
        if (rows.size() == kMaxColumns) break;
      }
      return rows.empty() ? Json() : rows;
    } catch (const Error&) {
      continue;  // a cross-validation, or a run without a checkpoint
    }
  }
  return {};
}

/// Returns what report.js reads.
Json report_json(const std::vector<RunEntry>& entries, const ReportOptions& options) {
  const tracking::Comparison comparison = tracking::compare(entries, true);
  Json json = {{"runs", Json::array()},
               {"charts", curve_charts(entries)},
               {"metrics", metric_rows(comparison)},
               {"differences", difference_rows(comparison)},
               {"noise", noise(comparison)},
               {"folds", Json::array()},
               {"evaluations", Json::array()}};
  for (Json& chart : json["charts"]) {
    const bool is_loss = chart["title"] == metrics::shown_name("loss");
    if (is_loss && !comparison.has_one_loss) chart["title"] = "loss (each run has its own)";
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    json["runs"].push_back(run_json(entries[i], i));
    const std::string of = entries.size() > 1 ? " of " + tracking::letter_of(i) : "";
    if (Json folds = folds_json(entries[i], of); !folds.is_null()) {
      json["folds"].push_back(std::move(folds));
    }
    if (Json found = evaluation_json(entries[i], i, options); !found.is_null()) {
      json["evaluations"].push_back(std::move(found));
    }
  }
  if (entries.size() > 1) json["leaderboard"] = leaderboard(entries, json["evaluations"]);
  if (Json columns = column_rows(entries); !columns.is_null()) json["columns"] = columns;
  constexpr int kRefreshSeconds = 5;
  if (options.refreshes) json["refresh"] = kRefreshSeconds;
  json["footer"] = fmt::format("trainer {}, {}", build_info().version, run::timestamp());
  return json;
}

std::string page_of(const std::vector<RunEntry>& entries, const Json& json) {
  const std::string title =
      entries.size() == 1 ? entries.front().name : fmt::format("{} runs", entries.size());
  return page_html(PageKind::kReport, title,
                   json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string report_html(const std::vector<RunEntry>& entries, const ReportOptions& options) {
  return page_of(entries, report_json(entries, options));
}

std::vector<std::string> write_own_report(const std::filesystem::path& folder,
                                          const ReportOptions& options) {
  std::vector<std::string> important;
  std::optional<RunEntry> entry = tracking::read_entry(folder);
  if (!entry) return important;
  entry->state = tracking::State::kComplete;  // its lock made it a running one
  const Json json = report_json({*entry}, options);
  write_file_atomically(run::RunDir{folder}.report(), page_of({*entry}, json));
  for (const Json& evaluation : json["evaluations"]) {
    if (!evaluation.contains("importance")) continue;
    for (std::string& name : important_columns(evaluation["importance"])) {
      important.push_back(std::move(name));
    }
  }
  return important;
}

}  // namespace trainer::report
