// SPDX-License-Identifier: Apache-2.0
#include "report/html/evaluation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/apply/evaluate.h"
#include "trainer/apply/explain/explained_rows.h"
#include "trainer/apply/explain/importance.h"
#include "trainer/apply/model.h"
#include "trainer/apply/predictor.h"
#include "trainer/apply/source_cells.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/text_table.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/metrics/score.h"
#include "trainer/table/source/table_source.h"

#include "report/html/findings.h"
#include "report/html/importance.h"
#include "report/html/prediction_charts.h"
#include "report/html/verdict.h"

namespace trainer::report {
namespace {

constexpr std::size_t kMaxClasses = 30;          // in a confusion matrix
constexpr std::size_t kMaxWorst = 20;            // rows
constexpr std::size_t kMaxCells = 6;             // of such a row
constexpr std::size_t kCellWidth = 40;           // characters
constexpr int64_t kMaxCount = int64_t{1} << 40;  // so that sums of counts do not overflow

/// The confusion matrix of a summary, which may have more classes than are shown.
class Confusion {
 public:
  explicit Confusion(const JsonReader& matrix) {
    for (const JsonReader& label : matrix["labels"].elements()) labels_.push_back(label.text());
    for (const JsonReader& cell : matrix["cells"].elements()) {
      const std::vector<JsonReader> numbers = cell.elements();
      if (numbers.size() != 3) cell.refuse("target, prediction and count");
      if (labels_.empty()) cell.refuse("a list of labels that has it");
      const std::size_t target = index_of(numbers[0]);
      add(target, index_of(numbers[1]), numbers[2]);
    }
    const std::vector<JsonReader> counts = matrix["counts"].elements();
    if (counts.size() > labels_.size()) matrix["counts"].refuse("a row for each label");
    for (std::size_t t = 0; t < counts.size(); ++t) {
      const std::vector<JsonReader> row = counts[t].elements();
      if (row.size() > labels_.size()) counts[t].refuse("a number for each label");
      for (std::size_t p = 0; p < row.size(); ++p) add(t, p, row[p]);
    }
  }

  std::size_t num_classes() const { return labels_.size(); }

  /// Returns the rows and columns of those classes that have the most errors, as the true or the
  /// predicted class. The order of the classes is kept.
  Json json(std::size_t max_classes) const {
    std::vector<std::size_t> order(num_classes());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (order.size() > max_classes) {
      std::vector<int64_t> wrong(order.size());
      for (const auto& [at, count] : counts_) {
        if (at.first == at.second) continue;
        wrong[at.first] += count;
        wrong[at.second] += count;
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return wrong[a] > wrong[b]; });
      order.resize(max_classes);
      std::sort(order.begin(), order.end());
    }
    Json shown = {{"labels", Json::array()}, {"counts", Json::array()}};
    for (const std::size_t t : order) {
      shown["labels"].push_back(labels_[t]);
      Json row = Json::array();
      for (const std::size_t p : order) {
        const auto found = counts_.find({t, p});
        row.push_back(found == counts_.end() ? 0 : found->second);
      }
      shown["counts"].push_back(std::move(row));
    }
    return shown;
  }

 private:
  std::size_t index_of(const JsonReader& index) const {
    return static_cast<std::size_t>(index.integer(0, std::ssize(labels_) - 1));
  }

  void add(std::size_t target, std::size_t predicted, const JsonReader& count) {
    const int64_t rows = count.integer(0, kMaxCount);
    if (rows > 0) counts_[{target, predicted}] = rows;
  }

  std::vector<std::string> labels_;
  std::map<std::pair<std::size_t, std::size_t>, int64_t> counts_;  // without those that are 0
};

Json class_rows(const JsonReader& classes) {
  Json rows = Json::array();
  for (const JsonReader& entry : classes.elements()) {
    Json& row = rows.emplace_back(Json{{"label", entry.text("label")}});
    for (const char* score : {"precision", "recall", "f1"}) {
      row[score] = entry.number(score).value_or(0);
    }
    row["rows"] = entry.integer("rows");
  }
  return rows;
}

void add_report(const JsonReader& report, Json& json) {
  json["rows"] = report.integer("rows");
  if (report.has("classes") && report["classes"].elements().size() <= kMaxClasses) {
    json["classes"] = class_rows(report["classes"]);
  }
  if (!report.has("confusion_matrix")) return;
  const Confusion confusion(report["confusion_matrix"]);
  json["confusion"] = confusion.json(kMaxClasses);
  if (confusion.num_classes() > kMaxClasses) {
    json["confusion_note"] =
        fmt::format("The {} classes with the most wrong rows, of {}.", kMaxClasses,
                    with_thousands(static_cast<int64_t>(confusion.num_classes())));
  }
}

/// Returns the line of a row in its file, or the number of the row from 1 if lines are not known.
int64_t place_of(const apply::SplitOutputs& found, std::size_t row) {
  return found.rows.source_lines.empty() ? static_cast<int64_t>(row) + 1
                                         : found.rows.source_lines[row];
}

std::string numbers_text(std::span<const double> values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const double value : values) texts.push_back(metrics::number_text(value));
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Returns the true and the predicted value of a row, the error and the loss.
std::vector<std::string> prediction_cells(const apply::Model& model,
                                          const apply::SplitOutputs& found, std::size_t row) {
  std::vector<std::string> cells;
  const auto width = static_cast<std::size_t>(model.num_outputs());
  const std::span<const float> outputs(found.outputs.data() + row * width, width);
  if (found.schema.task == config::Task::kClassification) {
    const std::vector<float> p = apply::probabilities(model, outputs);
    const auto predicted =
        static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
    const auto truth = static_cast<std::size_t>(found.rows.classes[row]);
    cells.push_back(shortened(found.schema.labels[truth], kCellWidth));
    cells.push_back(shortened(found.schema.labels[predicted], kCellWidth));
    cells.push_back(metrics::percent_text(static_cast<double>(p[truth])));
  } else {
    const std::vector<double> all = data::true_values(found.schema, found.rows);
    const std::span<const double> truth(all.data() + row * width, width);
    const std::vector<double> predicted = data::predicted_values(found.schema, outputs);
    std::vector<double> errors(width);
    for (std::size_t i = 0; i < width; ++i) errors[i] = predicted[i] - truth[i];
    cells = {numbers_text(truth), numbers_text(predicted), numbers_text(errors)};
  }
  cells.push_back(metrics::loss_text(static_cast<double>(found.losses[row])));
  return cells;
}

/// Returns the groups of columns that are shown, the most important ones first.
std::vector<std::size_t> shown_columns(std::span<const explain::ColumnGroup> groups,
                                       const std::optional<explain::Importance>& importance) {
  std::vector<std::size_t> order(groups.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; importance && i < order.size(); ++i) {
    order[i] = importance->columns[i].group;
  }
  std::erase_if(order, [&](std::size_t group) { return groups[group].parts.empty(); });
  order.resize(std::min(order.size(), kMaxCells));
  return order;
}

/// Returns the features of a row as floats, `[num_features]`.
std::vector<float> features_of(const data::Dataset& rows, std::size_t row) {
  std::vector<float> features;
  features.reserve(static_cast<std::size_t>(rows.features.num_columns));
  for (int64_t i = 0; i < rows.features.num_columns; ++i) {
    features.push_back(
        static_cast<float>(data::value_at(rows.features, static_cast<int64_t>(row), i)));
  }
  return features;
}

/// Returns the cell of a column as the model has it; empty for a row without features.
std::string encoded_text(const explain::ColumnGroup& group, std::span<const float> features) {
  return features.empty() ? "" : explain::cell_text(group, features);
}

/// Returns the rows with the largest losses, NaN first.
std::vector<std::size_t> find_worst(std::span<const float> losses) {
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto loss = [&](std::size_t i) {
    return std::isnan(losses[i]) ? std::numeric_limits<float>::infinity() : losses[i];
  };
  const std::size_t count = std::min(order.size(), kMaxWorst);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) { return loss(a) > loss(b); });
  order.resize(count);
  return order;
}

/// Returns the cells as they are in the file, or none if it cannot be read again; then the features
/// of the model are shown instead.
apply::SourceCells cells_of(const apply::Model& model, const std::string& split,
                            std::span<const int64_t> places) {
  try {
    return apply::own_cells(model, split, places);
  } catch (const Error&) {
    apply::SourceCells none;
    none.has_lines = data::has_lines(model.config().data);
    return none;
  }
}

/// Returns the rows with the largest losses and the cells of their most important columns, as
/// report.js reads them: {"head", "rows"}.
Json worst_rows(const apply::Model& model, const apply::SplitOutputs& found,
                std::span<const explain::ColumnGroup> groups,
                const std::optional<explain::Importance>& importance) {
  const std::vector<std::size_t> worst = find_worst(found.losses);
  std::vector<int64_t> places(worst.size());
  for (std::size_t i = 0; i < worst.size(); ++i) places[i] = place_of(found, worst[i]);
  const apply::SourceCells source = cells_of(model, found.split, places);
  Json head = {source.has_lines ? "line" : "row"};
  for (std::size_t i = 0; i < source.num_ids; ++i) {
    head.push_back(shortened(source.names[i], kCellWidth));
  }
  const bool has_classes = found.schema.task == config::Task::kClassification;
  for (const char* name : {"true", "predicted"}) head.push_back(name);
  head.push_back(has_classes ? "probability of the true class" : "error");
  head.push_back("loss");
  const std::vector<std::size_t> columns = shown_columns(groups, importance);
  for (const std::size_t group : columns) {
    head.push_back(shortened(groups[group].name, kCellWidth));
  }
  Json rows = Json::array();
  for (std::size_t i = 0; i < worst.size(); ++i) {
    std::vector<std::string> cells = {fmt::to_string(places[i])};
    const auto add = [&](const std::string& text) { cells.push_back(shortened(text, kCellWidth)); };
    for (std::size_t id = 0; id < source.num_ids; ++id) {
      const std::string* cell = source.find(places[i], source.names[id]);
      add(cell == nullptr ? "" : *cell);
    }
    for (const std::string& text : prediction_cells(model, found, worst[i])) cells.push_back(text);
    const std::vector<float> features = features_of(found.rows, worst[i]);
    for (const std::size_t group : columns) {
      const std::string* cell = source.find(places[i], groups[group].name);
      add(cell == nullptr ? encoded_text(groups[group], features) : *cell);
    }
    rows.push_back(std::move(cells));
  }
  return {{"head", std::move(head)}, {"rows", std::move(rows)}};
}

void add_rows(const ModelOutputs& outputs, std::size_t run, const ReportOptions& options,
              Json& json) {
  const auto& [model, found, first_fold] = outputs;
  json["charts"] = prediction_charts(model, found, run);
  const apply::SplitOutputs& explained = outputs.explained();
  const std::vector<explain::ColumnGroup> groups = explain::column_groups(explained.schema);
  const std::optional<explain::Importance> importance =
      measured_importance(model, explained, groups, options);
  json["importance"] = importance
                           ? importance_json(model, explained, groups, *importance, run, options)
                           : Json{{"note", kTooLarge}};
  json["worst"] = worst_rows(model, found, groups, importance);
}

/// Returns the names of the columns that count most, for the first lines of the report.
std::string important_text(const Json& importance) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> names = important_columns(importance);
  if (const std::size_t count = names.size(); count > kShown) {
    names.resize(kShown);
    names.push_back(counted(static_cast<int64_t>(count - kShown), "other column"));
  }
  return names.empty() ? "no column alone; see below" : joined(names);
}

}  // namespace

Json evaluation_json(const tracking::RunEntry& entry, std::size_t run,
                     const ReportOptions& options) {
  Findings found = find_results(entry, options);
  if (found.report.is_null()) return {};
  Json json = {{"run", run},
               {"split", found.split},
               {"facts", fact_rows(found)},
               {"verdict", verdict_json(found)},
               {"scores", score_table(entry, found)}};
  add_report(found.report, json);
  try {
    if (found.outputs) json["predict_seconds"] = found.outputs->found.predict_seconds;
    if (found.outputs) add_rows(*found.outputs, run, options, json);
  } catch (const Error& e) {
    found.problem = e.what();
  }
  if (json.contains("importance"))
    json["facts"].push_back({"depends on", important_text(json["importance"])});
  if (!found.problem.empty()) json["note"] = "Without curves and rows: " + found.problem;
  return json;
}

}  // namespace trainer::report
