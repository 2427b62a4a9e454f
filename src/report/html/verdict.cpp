// SPDX-License-Identifier: Apache-2.0
#include "report/html/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/ensemble.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/text_table.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/metrics/score.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::report {
namespace {

std::string task_text(const data::Schema& schema) {
  constexpr std::size_t kMaxShown = 4;
  constexpr std::size_t kMaxName = 60;
  const std::string target = shortened(joined(schema.target_names), kMaxName);
  if (schema.task == config::Task::kRegression) {
    const bool has_mean = schema.target_means.size() == 1;
    return fmt::format("regression of {}{}", target,
                       has_mean ? ", mean " + metrics::number_text(schema.target_means[0]) : "");
  }
  std::vector<std::size_t> order(schema.target_means.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return schema.target_means[a] > schema.target_means[b];
  });
  std::vector<std::string> classes;
  for (const std::size_t i : order) {
    if (classes.size() == kMaxShown) break;
    classes.push_back(fmt::format("{} {}", shortened(schema.labels[i], kMaxName),
                                  metrics::percent_text(schema.target_means[i])));
  }
  if (order.size() > kMaxShown) classes.emplace_back("others");
  return fmt::format("classification of {}, {} classes{}{}", target,
                     with_thousands(std::ssize(schema.labels)), classes.empty() ? "" : ": ",
                     joined(classes));
}

std::string columns_text(const data::Schema& schema) {
  if (schema.columns.empty()) return counted(schema.num_features(), "feature");
  int64_t num_numeric = 0;
  int64_t num_categorical = 0;
  for (const data::Column& column : schema.columns) {
    if (!data::is_feature(column)) continue;
    ++(column.kind == data::ColumnKind::kCategorical ? num_categorical : num_numeric);
  }
  return fmt::format("{} numeric, {} categorical", with_thousands(num_numeric),
                     with_thousands(num_categorical));
}

std::string rows_text(const apply::SplitOutputs& found) {
  const std::string rows = with_thousands(std::ssize(found.losses));
  if (found.split == apply::kOutOfFold) {
    return rows + ", each predicted by a model that has not seen it";
  }
  return fmt::format("{} training, {} {}", with_thousands(found.num_train), rows, found.split);
}

std::string files_text(const apply::Model& model) {
  std::vector<std::string> names;
  names.reserve(model.fingerprints.size());
  for (const data::Fingerprint& file : model.fingerprints) {
    names.push_back(std::filesystem::path(file.path).filename().string());
  }
  return joined_some(names);
}

std::string model_text(const apply::Model& model) {
  const apply::Member& member = model.members.front();
  const std::string recipe = config::to_text(member.config->recipe);
  const std::string network = network::summary(member.network);
  return fmt::format("recipe {}{}; {}", recipe,
                     model.is_ensemble() ? fmt::format(", {}", apply::epoch_text(model)) : "",
                     network);
}

/// Returns the interval of the mean absolute error; nothing for several targets.
std::optional<metrics::Interval> error_interval(const apply::SplitOutputs& found) {
  if (found.schema.num_targets() != 1) return std::nullopt;
  std::vector<double> errors = data::true_values(found.schema, found.rows);
  const std::vector<double> predicted = data::predicted_values(found.schema, found.outputs);
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = std::abs(predicted[i] - errors[i]);
  return metrics::mean_interval(errors);
}

std::string rows_in_words(const JsonReader& report) {
  return fmt::format("{} that it was not trained on", counted(report.integer("rows"), "row"));
}

std::string classification_text(const JsonReader& report, double accuracy, double baseline) {
  const metrics::Interval interval =
      metrics::share_interval(accuracy, report.integer("rows", 1, 1));
  const std::optional<double> auroc = report.number("auroc");
  return fmt::format(
      "{} of {} are classified correctly (95 % interval: {} to {}); always saying the most "
      "frequent class is right for {}.{}",
      metrics::percent_text(accuracy), rows_in_words(report), metrics::percent_text(interval.low),
      metrics::percent_text(interval.high), metrics::percent_text(baseline),
      auroc ? fmt::format(" The area under the ROC curve is {} (0.5: guessing).",
                          metrics::score_text({"auroc", *auroc}))
            : "");
}

std::string regression_text(const Findings& found, double error, double baseline) {
  const std::optional<metrics::Interval> interval =
      found.outputs ? error_interval(found.outputs->found) : std::nullopt;
  const std::optional<double> r2 = found.report.number("r2");
  return fmt::format(
      "The mean absolute error for {} is {}{}; always saying the mean is wrong by {}.{}",
      rows_in_words(found.report), metrics::number_text(error),
      interval ? fmt::format(" (95 % interval: {} to {})", metrics::number_text(interval->low),
                             metrics::number_text(interval->high))
               : "",
      metrics::number_text(baseline),
      r2 ? fmt::format(" R2 is {} (0: always the mean).", metrics::score_text({"r2", *r2})) : "");
}

std::vector<metrics::Score> training_scores(const tracking::RunEntry& entry) {
  constexpr const char* kTrain = "train.";
  std::vector<metrics::Score> scores;
  for (const metrics::Score& score : entry.metrics) {
    if (score.name.starts_with(kTrain)) {
      scores.push_back({tracking::score_name(score.name), score.value});
    }
  }
  return scores;
}

std::vector<metrics::ScoreColumn> score_columns(const tracking::RunEntry& entry,
                                                const Findings& found) {
  std::vector<metrics::ScoreColumn> columns;
  const auto add = [&](const std::string& title, std::vector<metrics::Score> scores) {
    if (!scores.empty()) columns.push_back({title, std::move(scores)});
  };
  const JsonReader& summary = found.summary;
  const JsonReader cv = JsonReader::of_file(entry.folder / run::kCrossValidationFile);
  if (entry.kind == tracking::Kind::kRun) add("training", training_scores(entry));
  if (summary.has("test") && summary.has("validation")) {
    add("validation", metrics::scores_in(summary["validation"]));
  }
  add(found.split, metrics::scores_in(found.report));
  if (entry.kind == tracking::Kind::kEnsemble) {
    add("mean of its members", apply::member_means(summary, found.split));
  }
  add("mean of the folds", metrics::scores_in(cv["mean"]));
  add("std of the folds", metrics::scores_in(cv["std"]));
  add("baseline", metrics::scores_in(found.report["baseline"]));
  return columns;
}

}  // namespace

Json fact_rows(const Findings& found) {
  if (!found.outputs) return Json::array();
  const auto& [model, rows, first_fold] = *found.outputs;
  Json facts = Json::array({{"task", task_text(rows.schema)}});
  if (!model.fingerprints.empty()) facts.push_back({"data", files_text(model)});
  facts.push_back({"columns", columns_text(rows.schema)});
  facts.push_back({"rows", rows_text(rows)});
  facts.push_back({"model", model_text(model)});
  return facts;
}

Json verdict_json(const Findings& found) {
  const JsonReader& report = found.report;
  const std::vector<metrics::Score> baseline = metrics::scores_in(report["baseline"]);
  if (baseline.empty()) return {};
  const std::vector<std::string> worse = metrics::not_better(metrics::scores_in(report), baseline);
  std::string text;
  if (const auto accuracy = report.number("accuracy")) {
    text = classification_text(report, *accuracy,
                               metrics::find_score(baseline, "accuracy").value_or(0));
  } else if (const auto error = report.number("mae")) {
    text = regression_text(found, *error, metrics::find_score(baseline, "mae").value_or(0));
  }
  return {{"title", worse.empty() ? "The model beats the baseline"
                                  : "The model does not beat the baseline in " + joined(worse)},
          {"good", worse.empty()},
          {"text", text}};
}

Json score_table(const tracking::RunEntry& entry, const Findings& found) {
  std::vector<std::vector<std::string>> rows =
      metrics::score_rows(metrics::scores_in(found.report), score_columns(entry, found));
  Json head = std::move(rows.front());
  rows.erase(rows.begin());
  return {{"head", std::move(head)}, {"rows", std::move(rows)}};
}

}  // namespace trainer::report
