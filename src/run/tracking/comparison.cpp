// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/config/fields.h"
#include "trainer/run/folder/history.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/run/tracking/query.h"

#include "run/tracking/run_document.h"

namespace trainer::tracking {
namespace {

constexpr std::size_t kCurveWidth = 20;  // characters

ComparedRow row_of(const std::vector<RunEntry>& entries, const std::string& name) {
  ComparedRow row{.name = name, .values = {}, .best = {}};
  for (const RunEntry& entry : entries) row.values.push_back(shown_value(entry, name));
  return row;
}

bool differs(const ComparedRow& row) {
  return std::any_of(row.values.begin(), row.values.end(),
                     [&](const std::string& value) { return value != row.values.front(); });
}

/// Returns the names of all metrics, in the order of the first run that has them.
std::vector<std::string> metric_names(const std::vector<RunEntry>& entries) {
  std::vector<std::string> names;
  for (const RunEntry& entry : entries) {
    for (const metrics::Score& score : entry.metrics) {
      if (std::find(names.begin(), names.end(), score.name) == names.end()) {
        names.push_back(score.name);
      }
    }
  }
  return names;
}

std::optional<std::size_t> best_of(const std::vector<RunEntry>& entries,
                                   const std::string& metric) {
  std::optional<std::size_t> best;
  double best_value = 0;
  bool is_tie = false;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto value = metrics::find_score(entries[i].metrics, metric);
    if (!value) continue;
    if (best && *value == best_value) is_tie = true;
    if (!best || (is_better_when_larger(metric) ? *value > best_value : *value < best_value)) {
      best = i;
      best_value = *value;
      is_tie = false;
    }
  }
  return is_tie ? std::nullopt : best;
}

/// Returns the loss of each epoch on the validation split, or else on the training split.
std::vector<double> losses_of(const RunEntry& entry) {
  std::vector<double> losses;
  if (entry.kind != Kind::kRun) return losses;
  for (const run::EpochRecord& epoch : run::read_records(entry.folder).epochs) {
    losses.push_back(
        epoch.validation_or_train().loss.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  return losses;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

/// Returns a character for each few epochs: their mean on a scale from the lowest to the highest
/// loss of all runs.
std::string draw(const std::vector<double>& values, const Range& range, bool unicode) {
  constexpr std::array<std::string_view, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> kAscii = {"_", ".", ":", "-", "=", "+", "*", "#"};
  std::string text;
  for (const double mean : means_of_neighbors(values, kCurveWidth)) {
    if (!std::isfinite(mean)) {
      text += "?";
      continue;
    }
    const double share = range.high > range.low ? (mean - range.low) / (range.high - range.low) : 0;
    const auto level = static_cast<std::size_t>(std::clamp(std::lround(7 * share), 0L, 7L));
    text += (unicode ? kBlocks : kAscii).at(level);
  }
  return text;
}

std::vector<ComparedRow> draw_curves(const std::vector<RunEntry>& entries, bool unicode) {
  std::vector<std::vector<double>> all;
  Range range;
  for (const RunEntry& entry : entries) {
    for (const double value : all.emplace_back(losses_of(entry))) {
      if (!std::isfinite(value)) continue;
      range.low = std::min(range.low, value);
      range.high = std::max(range.high, value);
    }
  }
  if (range.low > range.high) return {};
  ComparedRow row{.name = fmt::format("loss {} .. {}", metrics::loss_text(range.low),
                                      metrics::loss_text(range.high)),
                  .values = {},
                  .best = {}};
  for (const auto& values : all) row.values.push_back(draw(values, range, unicode));
  return {row};
}

constexpr std::size_t kMaxCell = 48;

/// Makes a table with a column for each run, with `titles` as headings. Longer cells are cut.
Table make_table(const Comparison& comparison, const std::vector<std::string>& titles,
                 std::size_t max_cell = kMaxCell) {
  std::vector<TableColumn> columns = {{"", "", Align::kLeft}};
  for (const std::string& title : titles) {
    columns.push_back({.key = "", .title = title, .max_width = max_cell});
  }
  Table table(std::move(columns));
  for (const auto* rows :
       {&comparison.fields, &comparison.settings, &comparison.metrics, &comparison.curves}) {
    for (const ComparedRow& row : *rows) {
      std::vector<Cell> cells = {row.name};
      for (std::size_t i = 0; i < row.values.size(); ++i) {
        cells.emplace_back(row.values[i] + (row.best == i ? " *" : "  "));
      }
      table.add(std::move(cells));
    }
  }
  return table;
}

/// Returns whether all runs minimize the same quantity, which depends on these settings.
bool have_one_loss(const std::vector<RunEntry>& entries) {
  constexpr std::array<const char*, 7> kKeys = {"training.loss",
                                                "training.label_smoothing",
                                                "training.huber_delta",
                                                "data.class_weights",
                                                "data.weight",
                                                "data.target_scaling",
                                                "data.task"};
  return std::all_of(kKeys.begin(), kKeys.end(), [&](const char* key) {
    return std::all_of(entries.begin(), entries.end(), [&](const RunEntry& entry) {
      return setting(entry, key) == setting(entries.front(), key);
    });
  });
}

bool is_loss(const std::string& metric) { return score_name(metric) == "loss"; }

void show_differences(const Comparison& comparison, Document& document) {
  const std::optional<Differences>& differences = comparison.differences;
  if (!differences) {
    document.paragraph(
        "One run of each says little: other seeds alone make a difference. Compare two "
        "cross-validations (trainer cv), or several runs of each with other seeds.");
    return;
  }
  Table table({{"", "metric", Align::kLeft},
               {"", "difference"},
               {"", "95 % interval"},
               {"", "", Align::kLeft}});
  table.set_title(fmt::format(
      "{} over {}:", comparison.entries.size() > 2 ? "The second less the first" : "B less A",
      differences->over));
  for (const Difference& d : differences->metrics) {
    const std::string name = score_name(d.metric);
    if (!metrics::is_headline(name) && name != "log_loss") continue;
    const bool is_better = (d.value > 0) == is_better_when_larger(d.metric);
    table.add({d.metric, fmt::format("{:+.4g}", d.value),
               fmt::format("{:+.4g} .. {:+.4g}", d.low, d.high),
               d.is_noise() ? "within the noise"
               : is_better  ? "better"
                            : "worse"});
  }
  document.show(std::move(table));
}

Document make_document(const Comparison& comparison, std::size_t width) {
  std::vector<std::string> letters;
  Document document;
  for (std::size_t i = 0; i < comparison.entries.size(); ++i) {
    const RunEntry& entry = comparison.entries[i];
    letters.push_back(letter_of(i));
    document.line(letters.back(),
                  entry.name + (entry.note.empty() ? "" : fmt::format("  ({})", entry.note)));
  }
  for (std::string& letter : letters) letter += "  ";  // as wide as the mark of the best
  // What is left beside the names of the keys.
  constexpr std::size_t kNames = 32;
  constexpr std::size_t kMinCell = 12;
  const std::size_t all = width > kNames ? (width - kNames) / letters.size() : kMinCell;
  const std::size_t max_cell = width == 0 ? kMaxCell : std::clamp(all, kMinCell, kMaxCell);
  document.show(make_table(comparison, letters, max_cell));
  show_differences(comparison, document);
  return document;
}

Json rows_json(const std::vector<ComparedRow>& rows) {
  Json json = Json::object();
  for (const ComparedRow& row : rows) json[row.name] = row.values;
  return json;
}

std::string to_json_text(const Comparison& comparison) {
  Json json = {{"runs", Json::array()}};
  for (const RunEntry& entry : comparison.entries) json["runs"].push_back(to_json(entry));
  json["settings"] = rows_json(comparison.settings);
  if (comparison.differences) {
    Json metrics = Json::object();
    for (const Difference& d : comparison.differences->metrics) {
      metrics[d.metric] = {
          {"value", d.value}, {"low", d.low}, {"high", d.high}, {"is_noise", d.is_noise()}};
    }
    json["differences"] = {{"over", comparison.differences->over}, {"metrics", std::move(metrics)}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::vector<double> means_of_neighbors(const std::vector<double>& values, std::size_t width) {
  if (values.size() <= width) return values;
  std::vector<double> means(width);
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t begin = i * values.size() / width;
    const std::size_t end = (i + 1) * values.size() / width;
    for (std::size_t j = begin; j < end; ++j) means[i] += values[j];
    means[i] /= static_cast<double>(end - begin);
  }
  return means;
}

std::string letter_of(std::size_t run) {
  constexpr std::size_t kLetters = 26;
  return run < kLetters ? std::string(1, static_cast<char>('A' + run)) : std::to_string(run + 1);
}

Comparison compare(std::vector<RunEntry> entries, bool unicode) {
  Comparison comparison;
  for (const char* name : {"kind", "state", "started", "epochs", "time", "tag"}) {
    ComparedRow row = row_of(entries, name);
    const bool always = std::string_view(name) == "state" || std::string_view(name) == "epochs";
    if (always || differs(row)) comparison.fields.push_back(std::move(row));
  }
  for (const config::Field& field : config::fields()) {
    const auto has = [&](const RunEntry& e) { return e.settings.contains(field.path); };
    if (std::none_of(entries.begin(), entries.end(), has)) continue;
    ComparedRow row = row_of(entries, field.path);
    if (differs(row)) comparison.settings.push_back(std::move(row));
  }
  comparison.has_one_loss = have_one_loss(entries);
  for (const std::string& name : metric_names(entries)) {
    if (is_loss(name) && !comparison.has_one_loss) continue;
    ComparedRow row = row_of(entries, name);
    row.best = best_of(entries, name);
    comparison.metrics.push_back(std::move(row));
  }
  if (comparison.has_one_loss) comparison.curves = draw_curves(entries, unicode);
  comparison.differences = find_differences(entries);
  if (comparison.differences && !comparison.has_one_loss) {
    std::erase_if(comparison.differences->metrics,
                  [](const Difference& d) { return is_loss(d.metric); });
  }
  comparison.entries = std::move(entries);
  return comparison;
}

std::string comparison_text(const Comparison& comparison, ListFormat format, std::size_t width) {
  std::vector<std::string> names;
  names.reserve(comparison.entries.size());
  for (const RunEntry& entry : comparison.entries) names.push_back(entry.name);
  switch (format) {
    case ListFormat::kJson:
      return to_json_text(comparison);
    case ListFormat::kCsv:
      return make_table(comparison, names).csv();
    case ListFormat::kMarkdown:
      return make_table(comparison, names).markdown();
    case ListFormat::kText:
      break;
  }
  return make_document(comparison, width).text(width);
}

namespace {

using Numbers = std::vector<double>;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Returns the variance of a sample, with the divisor n - 1.
double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

/// Returns the 97.5 % quantile of Student's t-distribution: from a table up to 30 degrees of
/// freedom, above that from its expansion in 1 / df (Abramowitz and Stegun, 26.7.5).
double t_quantile(double degrees) {
  constexpr std::array kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  const double whole = std::max(1.0, std::floor(degrees));  // may be infinite
  if (whole <= static_cast<double>(kTable.size())) {
    return kTable[static_cast<std::size_t>(whole) - 1];
  }
  constexpr double kNormal = metrics::kNormalQuantile;
  return kNormal + (std::pow(kNormal, 3) + kNormal) / (4 * degrees);
}

Difference interval(double value, double standard_error, double degrees) {
  const double half = t_quantile(degrees) * standard_error;
  return {.metric = "", .value = value, .low = value - half, .high = value + half};
}

/// The scores of the runs of a cross-validation, by repeat and fold.
struct FoldScores {
  int64_t num_folds = 0;
  std::map<std::pair<int64_t, int64_t>, JsonReader> runs;
};

FoldScores read_folds(const RunEntry& entry) {
  FoldScores scores;
  const JsonReader cv = JsonReader::of_file(entry.folder / run::kCrossValidationFile);
  scores.num_folds = cv.integer("folds");
  for (const JsonReader& run : cv["runs"].elements()) {
    scores.runs.emplace(std::pair(run.integer("repeat", 1), run.integer("fold")), run);
  }
  return scores;
}

std::optional<Differences> paired(const RunEntry& a, const RunEntry& b) {
  const FoldScores first = read_folds(a);
  const FoldScores second = read_folds(b);
  if (first.num_folds != second.num_folds || first.num_folds < 2) return std::nullopt;
  // Folds that contain other rows cannot be paired.
  for (const char* key : {"seed", "data.path", "data.query", "data.target"}) {
    if (setting(a, key) != setting(b, key)) return std::nullopt;
  }
  Differences differences;
  for (const metrics::Score& score : a.metrics) {
    const std::string name = score_name(score.name);
    Numbers values;
    for (const auto& [key, run] : first.runs) {
      const auto other = second.runs.find(key);
      if (other == second.runs.end() || !run.has(name) || !other->second.has(name)) continue;
      values.push_back(other->second[name].number() - run[name].number());
    }
    if (values.size() < 2) continue;
    differences.over = counted(std::ssize(values), "fold");
    Difference& added =
        differences.metrics.emplace_back(paired_difference(values, first.num_folds));
    added.metric = score.name;
  }
  if (differences.metrics.empty()) return std::nullopt;
  return differences;
}

/// Returns the settings without the seeds, which are the same for runs that are repetitions.
std::map<std::string, std::string> settings_but_seed(const RunEntry& entry) {
  std::map<std::string, std::string> settings = entry.settings;
  for (const char* key : {"seed", "training.seed"}) settings.erase(key);
  return settings;
}

std::optional<Differences> between_seeds(std::span<const RunEntry> entries) {
  std::vector<std::vector<const RunEntry*>> groups;
  for (const RunEntry& entry : entries) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& others) {
      return settings_but_seed(*others.front()) == settings_but_seed(entry);
    });
    if (group == groups.end()) {
      groups.push_back({&entry});
    } else {
      group->push_back(&entry);
    }
  }
  if (groups.size() != 2 || groups[0].size() < 2 || groups[1].size() < 2) return std::nullopt;
  Differences differences{
      .over = fmt::format("{} and {} runs with other seeds", groups[0].size(), groups[1].size()),
      .metrics = {}};
  for (const metrics::Score& score : entries.front().metrics) {
    std::array<Numbers, 2> values;
    for (std::size_t i = 0; i < 2; ++i) {
      for (const RunEntry* entry : groups[i]) {
        if (const auto value = metrics::find_score(entry->metrics, score.name)) {
          values[i].push_back(*value);
        }
      }
    }
    if (values[0].size() < 2 || values[1].size() < 2) continue;
    differences.metrics.push_back(difference_of_means(values[0], values[1]));
    differences.metrics.back().metric = score.name;
  }
  if (differences.metrics.empty()) return std::nullopt;
  return differences;
}

}  // namespace

Difference paired_difference(std::span<const double> differences, int64_t num_folds) {
  const auto count = static_cast<double>(differences.size());
  const double test_by_train = 1 / static_cast<double>(std::max<int64_t>(1, num_folds - 1));
  const double error = std::sqrt(variance_of(differences) * (1 / count + test_by_train));
  return interval(mean_of(differences), error, count - 1);
}

Difference difference_of_means(std::span<const double> first, std::span<const double> second) {
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  const double a = variance_of(first) / n;
  const double b = variance_of(second) / m;
  const double denominator = a * a / (n - 1) + b * b / (m - 1);
  const double degrees = denominator > 0 ? (a + b) * (a + b) / denominator : n + m - 2;
  return interval(mean_of(second) - mean_of(first), std::sqrt(a + b), degrees);
}

std::optional<Differences> find_differences(std::span<const RunEntry> entries) {
  const bool are_folds = entries.size() == 2 && entries[0].kind == Kind::kCrossValidation &&
                         entries[1].kind == Kind::kCrossValidation;
  return are_folds ? paired(entries[0], entries[1]) : between_seeds(entries);
}

}  // namespace trainer::tracking
