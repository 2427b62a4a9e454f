// SPDX-License-Identifier: Apache-2.0
#include "report/html/prediction_charts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/predictor.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/text_table.h"
#include "trainer/metrics/classification.h"

#include "report/html/run_series.h"

namespace trainer::report {
namespace {

constexpr std::size_t kMaxClassCurves = 6;    // each has a color
constexpr std::size_t kMaxCurvePoints = 200;  // curves are smooth, so these are enough
constexpr std::size_t kMaxDots = 600;         // of a scatter plot
constexpr std::size_t kMaxLabel = 40;         // characters
constexpr int64_t kNumBins = 15;              // as for the calibration error

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
std::size_t calibrated_class(const Probabilities& p, std::size_t row) {
  if (p.num_classes == 2) return 1;
  const float* begin = p.values.data() + row * p.num_classes;
  return static_cast<std::size_t>(std::max_element(begin, begin + p.num_classes) - begin);
}

Json reliability_chart(const Probabilities& p, const apply::SplitOutputs& found, std::size_t run) {
  const auto num_rows = static_cast<std::size_t>(found.rows.size());
  std::vector<double> probabilities(num_rows);
  std::vector<uint8_t> happened(num_rows);
  for (std::size_t row = 0; row < num_rows; ++row) {
    const std::size_t label = calibrated_class(p, row);
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
  const std::string title = p.num_classes > 2
                                ? "how often the prediction is right"
                                : "how often it is " + shortened(found.schema.labels[1], kMaxLabel);
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
      const bool is_of_class = found.rows.classes[row] == static_cast<int64_t>(label);
      if (!is_of_class || !std::isfinite(p.at(row, 1))) continue;
      const double at = std::clamp(p.at(row, 1), 0.0, 1.0) * kBars;
      counts[std::min(static_cast<std::size_t>(at), kBars - 1)] += 1;
    }
    series.push_back(
        bars_json(run, shortened(found.schema.labels[label], kMaxLabel), 0, 1, counts));
    series.back()["color"] = label;
  }
  return {{"title", "Predicted probability of " + shortened(found.schema.labels[1], kMaxLabel) +
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
      const std::string name = shortened(found.schema.labels[labels[i]], kMaxLabel) + remark;
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

}  // namespace

Json prediction_charts(const apply::Model& model, const apply::SplitOutputs& found,
                       std::size_t run) {
  return found.schema.task == config::Task::kClassification ? class_charts(model, found, run)
                                                            : value_charts(found, run);
}

}  // namespace trainer::report
