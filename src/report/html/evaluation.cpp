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
#include "trainer/metrics/classification.h"
#include "trainer/metrics/score.h"
#include "trainer/table/source/table_source.h"

#include "report/html/findings.h"
#include "report/html/importance.h"
#include "report/html/run_series.h"
#include "report/html/verdict.h"

namespace trainer::report {
namespace {

constexpr std::size_t kMaxClasses = 30;          // in a confusion matrix
constexpr std::size_t kMaxClassCurves = 6;       // each has a color
constexpr std::size_t kMaxCurvePoints = 200;     // curves are smooth, so these are enough
constexpr std::size_t kMaxDots = 600;            // of a scatter plot
constexpr std::size_t kMaxWorst = 20;            // rows
constexpr std::size_t kMaxCells = 6;             // of such a row
constexpr std::size_t kCellWidth = 40;           // characters
constexpr int64_t kNumBins = 15;                 // as for the calibration error
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

Json series_json(std::size_t run, const std::string& name, std::vector<double> x,
                 std::vector<double> y, bool dots = false) {
  Json series = {{"run", run}, {"name", name}};
  if (!dots) thin_out(x, y, kMaxCurvePoints);
  series["x"] = number_list(x);
  series["y"] = number_list(y);
  if (dots) series["dots"] = true;
  return series;
}

/// Returns bars of equal width from `low` to `high` as the line around them.
Json bars_json(std::size_t run, const std::string& name, double low, double high,
               const std::vector<double>& counts) {
  const double width = (high - low) / static_cast<double>(counts.size());
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double begin = low + static_cast<double>(i) * width;
    x.insert(x.end(), {begin, begin + width});
    y.insert(y.end(), {counts[i], counts[i]});
  }
  return series_json(run, name, std::move(x), std::move(y));
}

Json histogram_series(std::size_t run, const std::vector<double>& values) {
  constexpr std::size_t kMaxBars = 40;
  const auto root = static_cast<std::size_t>(std::sqrt(static_cast<double>(values.size())));
  const std::size_t num_bars = std::clamp<std::size_t>(2 * root, 4, kMaxBars);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double width = (*high - *low) / static_cast<double>(num_bars);
  if (!(width > 0)) return series_json(run, "rows", {*low}, {static_cast<double>(values.size())});
  std::vector<double> counts(num_bars);
  for (const double value : values) {
    counts[std::min(static_cast<std::size_t>((value - *low) / width), num_bars - 1)] += 1;
  }
  return bars_json(run, "rows", *low, *high, counts);
}

/// The predicted probabilities of all classes for the rows of a split.
struct Probabilities {
  std::size_t num_classes = 0;
  std::vector<float> values;  // [rows, num_classes]

  double at(std::size_t row, std::size_t label) const {
    return static_cast<double>(values[row * num_classes + label]);
  }
};

/// Returns the classes that are drawn: the second one of two, else those with the most rows.
std::vector<std::size_t> drawn_classes(const apply::SplitOutputs& found) {
  const std::size_t count = found.schema.labels.size();
  if (count == 2) return {1};
  std::vector<int64_t> rows(count);
  for (const int64_t label : found.rows.classes) ++rows[static_cast<std::size_t>(label)];
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a] > rows[b]; });
  order.resize(std::min(order.size(), kMaxClassCurves));
  std::sort(order.begin(), order.end());
  return order;
}

Json unit_chart(const std::string& title, const char* x, Json series, bool diagonal) {
  return {{"title", title},
          {"x", x},
          {"fixed", true},
          {"diagonal", diagonal},
          {"series", std::move(series)}};
}

/// Returns the class whose probability is compared with its frequency: the second one of two, else
/// the one with the largest probability.
std::size_t judged_class(const Probabilities& p, std::size_t row) {
  if (p.num_classes == 2) return 1;
  const float* begin = p.values.data() + row * p.num_classes;
  return static_cast<std::size_t>(std::max_element(begin, begin + p.num_classes) - begin);
}

Json reliability_chart(const Probabilities& p, const apply::SplitOutputs& found, std::size_t run) {
  const auto num_rows = static_cast<std::size_t>(found.rows.size());
  std::vector<double> probabilities(num_rows);
  std::vector<uint8_t> happened(num_rows);
  for (std::size_t row = 0; row < num_rows; ++row) {
    const std::size_t label = judged_class(p, row);
    probabilities[row] = p.at(row, label);
    happened[row] = found.rows.classes[row] == static_cast<int64_t>(label) ? 1 : 0;
  }
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> shares;
  for (const metrics::ReliabilityBin& bin :
       metrics::reliability(probabilities, happened, kNumBins)) {
    x.push_back(bin.mean_probability);
    y.push_back(bin.frequency);
    shares.push_back(static_cast<double>(bin.num_rows) / static_cast<double>(num_rows));
  }
  Json series = Json::array();
  series.push_back(series_json(run, "frequency", std::move(x), std::move(y), true));
  const std::string title =
      p.num_classes > 2 ? "how often the prediction is right"
                        : "how often it is " + shortened(found.schema.labels[1], kCellWidth);
  Json chart = unit_chart("Reliability: " + title, "mean probability", std::move(series), true);
  chart["shares"] = number_list(shares);
  return chart;
}

/// Returns the area under the curve by trapezoids.
double area(const metrics::Curve& curve) {
  double sum = 0;
  for (std::size_t i = 1; i < curve.x.size(); ++i) {
    sum += (curve.x[i] - curve.x[i - 1]) * (curve.y[i] + curve.y[i - 1]) / 2;
  }
  return sum;
}

/// Adds where the threshold between two classes lies on the curves.
void add_threshold(double threshold, std::span<const double> scores,
                   std::span<const uint8_t> is_class, std::size_t run, Json& roc, Json& recall) {
  double counts[2][2] = {};  // [is of the class][is predicted as it]
  for (std::size_t i = 0; i < scores.size(); ++i) ++counts[is_class[i]][scores[i] > threshold];
  const double positive = counts[1][0] + counts[1][1];
  const double negative = counts[0][0] + counts[0][1];
  const double predicted = counts[0][1] + counts[1][1];
  const std::string name = fmt::format("threshold {:.4g}", threshold);
  const auto add = [&](double x, double y, Json& to) {
    to.push_back(series_json(run, name, {x}, {y}, true));
    to.back()["color"] = 1;
  };
  if (positive > 0 && negative > 0) add(counts[0][1] / negative, counts[1][1] / positive, roc);
  if (positive > 0 && predicted > 0) add(counts[1][1] / positive, counts[1][1] / predicted, recall);
}

/// Returns how the predicted probability of the second of two classes is distributed over the rows
/// of each class.
Json probability_chart(const Probabilities& p, const apply::SplitOutputs& found, std::size_t run) {
  constexpr std::size_t kBars = 20;
  Json series = Json::array();
  for (std::size_t label = 0; label < p.num_classes; ++label) {
    std::vector<double> counts(kBars);
    for (std::size_t row = 0; row < found.rows.classes.size(); ++row) {
      if (found.rows.classes[row] != static_cast<int64_t>(label)) continue;
      const double at = std::clamp(p.at(row, 1), 0.0, 1.0) * kBars;
      counts[std::min(static_cast<std::size_t>(at), kBars - 1)] += 1;
    }
    series.push_back(bars_json(run, found.schema.labels[label], 0, 1, counts));
    series.back()["color"] = label;
  }
  return {{"title", "Predicted probability of " + shortened(found.schema.labels[1], kCellWidth) +
                        " by true class"},
          {"x", "probability"},
          {"still", true},
          {"series", std::move(series)}};
}

Json class_charts(const apply::Model& model, const apply::SplitOutputs& found, std::size_t run) {
  const Probabilities p{found.schema.labels.size(), apply::probabilities(model, found.outputs)};
  const auto num_rows = static_cast<std::size_t>(found.rows.size());
  const std::vector<std::size_t> labels = drawn_classes(found);
  Json roc = Json::array();
  Json recall = Json::array();
  std::vector<double> scores(num_rows);
  std::vector<uint8_t> is_class(num_rows);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    for (std::size_t row = 0; row < num_rows; ++row) {
      scores[row] = p.at(row, labels[i]);
      is_class[row] = found.rows.classes[row] == static_cast<int64_t>(labels[i]) ? 1 : 0;
    }
    const auto add = [&](const std::string& remark, metrics::Curve curve, Json& to) {
      if (curve.x.empty()) return;
      const std::string name = shortened(found.schema.labels[labels[i]], kCellWidth) + remark;
      Json series = series_json(run, name, std::move(curve.x), std::move(curve.y));
      if (labels.size() > 1) series["color"] = i;
      to.push_back(std::move(series));
    };
    metrics::Curve curve = metrics::roc_curve(scores, is_class);
    const std::string remark = fmt::format(" (area {:.4f})", area(curve));
    add(remark, std::move(curve), roc);
    add("", metrics::precision_recall_curve(scores, is_class), recall);
  }
  if (p.num_classes == 2) add_threshold(model.threshold, scores, is_class, run, roc, recall);
  const std::string of_classes =
      labels.size() > 1 && labels.size() < p.num_classes
          ? fmt::format(": the {} of {} classes with the most rows", labels.size(), p.num_classes)
          : "";
  Json charts = Json::array();
  if (!roc.empty()) {
    charts.push_back(
        unit_chart("ROC curve" + of_classes, "false positive rate", std::move(roc), true));
  }
  if (!recall.empty()) {
    charts.push_back(
        unit_chart("Precision and recall" + of_classes, "recall", std::move(recall), false));
  }
  charts.push_back(reliability_chart(p, found, run));
  if (p.num_classes == 2) charts.push_back(probability_chart(p, found, run));
  return charts;
}

/// Returns charts of the residuals of each target, in the units of the file.
Json value_charts(const apply::SplitOutputs& found, std::size_t run) {
  const std::vector<double> predicted = data::predicted_values(found.schema, found.outputs);
  const std::vector<double> truth = data::true_values(found.schema, found.rows);
  const auto num_targets = static_cast<std::size_t>(found.schema.num_targets());
  Json charts = Json::array();
  for (std::size_t t = 0; t < std::min(num_targets, kMaxClassCurves); ++t) {
    std::vector<double> x;
    std::vector<double> residuals;
    for (std::size_t i = t; i < predicted.size(); i += num_targets) {
      if (!std::isfinite(predicted[i]) || !std::isfinite(truth[i])) continue;
      x.push_back(predicted[i]);
      residuals.push_back(truth[i] - predicted[i]);
    }
    if (x.empty()) continue;
    const std::string of = num_targets == 1 ? "" : " of " + found.schema.target_names[t];
    const std::size_t step = x.size() / kMaxDots + 1;
    std::vector<double> some_x;
    std::vector<double> some_y;
    for (std::size_t i = 0; i < x.size(); i += step) {
      some_x.push_back(x[i]);
      some_y.push_back(residuals[i]);
    }
    const auto scatter = [&](const std::string& name, const std::vector<double>& y) {
      Json series = series_json(run, name, some_x, y, true);
      series["no_line"] = true;
      return Json::array({std::move(series)});
    };
    std::vector<double> some_truths(some_x.size());
    for (std::size_t i = 0; i < some_x.size(); ++i) some_truths[i] = some_x[i] + some_y[i];
    const std::string some =
        step == 1 ? ""
                  : fmt::format(": {} of {} rows", with_thousands(std::ssize(some_x)),
                                with_thousands(std::ssize(x)));
    charts.push_back({{"title", fmt::format("True against predicted{}{}", of, some)},
                      {"x", "predicted"},
                      {"still", true},
                      {"diagonal", true},
                      {"series", scatter("true", some_truths)}});
    charts.push_back({{"title", fmt::format("Residuals{}{}", of, some)},
                      {"x", "predicted"},
                      {"still", true},
                      {"series", scatter("true - predicted", some_y)}});
    charts.push_back({{"title", "Distribution of the residuals" + of},
                      {"x", "true - predicted"},
                      {"still", true},
                      {"series", Json::array({histogram_series(run, residuals)})}});
  }
  return charts;
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
std::vector<std::string> judged_row(const apply::Model& model, const apply::SplitOutputs& found,
                                    std::size_t row) {
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
    for (const std::string& text : judged_row(model, found, worst[i])) cells.push_back(text);
    const std::vector<float> features = features_of(found.rows, worst[i]);
    for (const std::size_t group : columns) {
      const std::string* cell = source.find(places[i], groups[group].name);
      add(cell == nullptr ? encoded_text(groups[group], features) : *cell);
    }
    rows.push_back(std::move(cells));
  }
  return {{"head", std::move(head)}, {"rows", std::move(rows)}};
}

void add_rows(const Judged& judged, std::size_t run, const ReportOptions& options, Json& json) {
  const auto& [model, found, first_fold] = judged;
  json["charts"] = found.schema.task == config::Task::kClassification
                       ? class_charts(model, found, run)
                       : value_charts(found, run);
  const apply::SplitOutputs& explained = judged.explained();
  const std::vector<explain::ColumnGroup> groups = explain::column_groups(explained.schema);
  const std::optional<explain::Importance> importance =
      measured_importance(model, explained, groups, options);
  json["importance"] = importance
                           ? importance_json(model, explained, groups, *importance, run, options)
                           : Json{{"note", kTooLarge}};
  json["worst"] = worst_rows(model, found, groups, importance);
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
    if (found.judged) add_rows(*found.judged, run, options, json);
  } catch (const Error& e) {
    found.problem = e.what();
  }
  if (!found.problem.empty()) json["note"] = "Without curves and rows: " + found.problem;
  return json;
}

}  // namespace trainer::report
