// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/explain/contributions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/apply/encoded_network.h"
#include "trainer/apply/predictor.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/metrics/classification.h"
#include "trainer/metrics/score.h"
#include "trainer/nn/cpu/combine.h"
#include "trainer/table/schema/quantiles.h"

namespace trainer::explain {
namespace {

constexpr int64_t kMinSteps = 32;
constexpr int64_t kMaxSteps = 4096;
constexpr int64_t kStepsAtOnce = 64;
constexpr double kTolerance = 1e-3;  // relative to the sum of the absolute contributions
constexpr double kRounding = 1e-6;   // relative to the outputs, which are float32

/// The value to explain, a function of the outputs of the model: the logit of the probability of a
/// class, or a target in the units of the file.
struct OutputOfInterest {
  std::string name;
  bool is_logit = false;
  std::size_t output = 0;
  double factor = 1;
  double shift = 0;

  double value(std::span<const float> outputs) const {
    const auto own = static_cast<double>(outputs[output]);
    return factor * (is_logit && outputs.size() > 1 ? own - log_sum_of_others(outputs) : own) +
           shift;
  }

  /// The gradient of the value with respect to the outputs, without the factor.
  void set_gradient(std::span<const float> outputs, std::span<float> gradient) const {
    const bool has_others = is_logit && outputs.size() > 1;
    const double log_sum = has_others ? log_sum_of_others(outputs) : 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      gradient[i] =
          has_others ? static_cast<float>(-std::exp(static_cast<double>(outputs[i]) - log_sum)) : 0;
    }
    gradient[output] = 1;
  }

 private:
  /// log(sum of exp(z)) over the logits z of all other classes. The logit log(p / (1 - p)) of the
  /// probability p of a class is its own z minus this.
  double log_sum_of_others(std::span<const float> outputs) const {
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (i != output) largest = std::max(largest, static_cast<double>(outputs[i]));
    }
    double sum = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (i != output) sum += std::exp(static_cast<double>(outputs[i]) - largest);
    }
    return largest + std::log(sum);
  }
};

// A single logit is that of the second class; its negative is the logit of the first class.
OutputOfInterest predicted_class(const apply::Model& model, int64_t label) {
  const auto index = static_cast<std::size_t>(label);
  const bool is_single = model.num_outputs() == 1;
  return {.name = fmt::format("logit of {}", in_quotes(model.schema.labels[index])),
          .is_logit = true,
          .output = is_single ? 0 : index,
          .factor = is_single && label == 0 ? -1.0 : 1.0};
}

std::vector<OutputOfInterest> targets(const data::Schema& schema) {
  std::vector<OutputOfInterest> all;
  for (std::size_t i = 0; i < schema.target_names.size(); ++i) {
    const data::Scaling& scaling = schema.target_scaling;
    all.push_back({.name = schema.target_names[i],
                   .output = i,
                   .factor = 1 / static_cast<double>(scaling.scale[i]),
                   .shift = static_cast<double>(scaling.shift[i]) + scaling.offset_of(i)});
  }
  return all;
}

/// One member, and its path from the inputs of the baseline to those of the row.
struct MemberPath {
  apply::EncodedNetwork network;
  std::vector<float> from;        // [width]
  std::vector<float> to;          // [width]
  std::vector<int64_t> features;  // [width] the feature of each input
};

/// Integrates the gradient of an output along the path from the baseline to the row.
class PathIntegral {
 public:
  PathIntegral(const apply::Model& model, const data::Matrix& baseline, const data::Matrix& row,
               int64_t num_threads)
      : model_(model), team_(num_threads) {
    for (const apply::Member& member : model.members) {
      apply::EncodedNetwork network(member, model.schema.scaling, kStepsAtOnce, team_);
      std::vector<float> from = network.encode(baseline);
      std::vector<float> to = network.encode(row);
      std::vector<int64_t> features = network.features();
      paths_.push_back(std::make_unique<MemberPath>(
          MemberPath{std::move(network), std::move(from), std::move(to), std::move(features)}));
    }
  }

  /// The contribution of each feature to that output, `[num_features]`, without the factor.
  std::vector<double> integrate(const Quadrature& steps, const OutputOfInterest& of) {
    std::vector<double> sums(static_cast<std::size_t>(model_.schema.num_features()));
    for (std::size_t begin = 0; begin < steps.nodes.size(); begin += kStepsAtOnce) {
      const std::size_t count = std::min<std::size_t>(kStepsAtOnce, steps.nodes.size() - begin);
      add_steps(std::span(steps.nodes).subspan(begin, count),
                std::span(steps.weights).subspan(begin, count), of, sums);
    }
    return sums;
  }

 private:
  void add_steps(std::span<const double> nodes, std::span<const double> weights,
                 const OutputOfInterest& of, std::vector<double>& sums) {
    for (const auto& path : paths_) set_inputs(*path, nodes);
    const auto num_rows = static_cast<int64_t>(nodes.size());
    const std::vector<float> factors = member_factors(num_rows, of);
    const std::size_t size = factors.size() / paths_.size();
    for (std::size_t m = 0; m < paths_.size(); ++m) {
      MemberPath& path = *paths_[m];
      const std::span<const float> gradient =
          path.network.gradient(num_rows, std::span(factors).subspan(m * size, size));
      for (std::size_t j = 0; j < path.features.size(); ++j) {
        double slope = 0;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
          slope += weights[i] * static_cast<double>(gradient[i * path.features.size() + j]);
        }
        const double way = static_cast<double>(path.to[j]) - static_cast<double>(path.from[j]);
        sums[static_cast<std::size_t>(path.features[j])] += slope * way;
      }
    }
  }

  static void set_inputs(MemberPath& path, std::span<const double> nodes) {
    float* input = path.network.inputs(static_cast<int64_t>(nodes.size())).data();
    for (const double node : nodes) {
      for (std::size_t j = 0; j < path.from.size(); ++j) {
        const auto from = static_cast<double>(path.from[j]);
        *input++ = static_cast<float>(from + node * (static_cast<double>(path.to[j]) - from));
      }
    }
  }

  /// The gradient with respect to the outputs of the members, `[members, rows, outputs]`.
  std::vector<float> member_factors(int64_t num_rows, const OutputOfInterest& of) {
    std::vector<float> all;  // [members, rows, outputs] the outputs, later their gradient
    std::vector<float> outputs;
    for (const auto& path : paths_) {
      path->network.infer(num_rows, outputs);
      all.insert(all.end(), outputs.begin(), outputs.end());
    }
    const int64_t width = model_.num_outputs();
    const cpu::MemberOutputs members{.values = all.data(),
                                     .num_members = std::ssize(paths_),
                                     .member_stride = num_rows * width,
                                     .num_rows = num_rows,
                                     .row_stride = width,
                                     .num_columns = width,
                                     .weights = model_.weights};
    const network::Mean mean = network::mean_for(model_.schema.task);
    if (model_.is_ensemble()) cpu::combine_members(mean, members, outputs.data(), width);
    std::vector<float> factors(outputs.size());
    for (int64_t row = 0; row < num_rows; ++row) {
      const auto begin = static_cast<std::size_t>(row * width);
      const auto count = static_cast<std::size_t>(width);
      of.set_gradient(std::span(outputs).subspan(begin, count),
                      std::span(factors).subspan(begin, count));
    }
    if (!model_.is_ensemble()) return factors;
    cpu::combine_gradient(mean, members, factors.data(), all.data());
    return all;
  }

  const apply::Model& model_;
  cpu::ThreadTeam team_;
  std::vector<std::unique_ptr<MemberPath>> paths_;
};

std::vector<float> outputs_of(const apply::Model& model, const data::Matrix& row,
                              int64_t num_threads) {
  std::vector<float> outputs;
  apply::Predictor(model, num_threads).predict(row, outputs);
  return outputs;
}

/// A copy of the model that does not limit its predictions.
apply::Model unlimited(const apply::Model& model) {
  apply::Model copy = model;
  copy.schema.target_low.clear();
  copy.schema.target_high.clear();
  return copy;
}

double sum_of_sizes(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, double value) { return sum + std::abs(value); });
}

/// Doubles the number of steps until the contributions add up.
ExplainedOutput explain_output(PathIntegral& integral, const OutputOfInterest& of,
                               const std::vector<std::size_t>& group_of, std::size_t num_groups,
                               ExplainedOutput explained) {
  for (int64_t steps = kMinSteps; steps <= kMaxSteps && !explained.adds_up; steps *= 2) {
    const std::vector<double> features = integral.integrate(gauss_legendre(steps), of);
    explained.contributions.assign(num_groups, 0);
    for (std::size_t i = 0; i < features.size(); ++i) {
      explained.contributions[group_of[i]] += of.factor * features[i];
    }
    const double sum =
        std::accumulate(explained.contributions.begin(), explained.contributions.end(), 0.0);
    explained.num_steps = steps;
    explained.error = sum - (explained.at_row - explained.at_baseline);
    const double rounding =
        kRounding * (std::abs(explained.at_row) + std::abs(explained.at_baseline));
    explained.adds_up =
        std::abs(explained.error) <= kTolerance * sum_of_sizes(explained.contributions) + rounding;
  }
  return explained;
}

std::string prediction_text(const apply::Model& model, const std::vector<float>& outputs,
                            int64_t label) {
  if (model.schema.task == config::Task::kRegression) {
    std::vector<std::string> texts;
    for (const double value : apply::predicted_values(model, outputs)) {
      texts.push_back(metrics::number_text(value));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  const auto index = static_cast<std::size_t>(label);
  return fmt::format("{} (probability {:.4f})", model.schema.labels[index],
                     apply::probabilities(model, outputs)[index]);
}

bool fills_with_average(const apply::Model& model) {
  const config::Imputation fill = model.config().data.fill;
  return fill == config::Imputation::kMean || fill == config::Imputation::kMedian;
}

/// The statistic of the training split that the numbers of the baseline have; empty: they are 0.
std::string average_text(const apply::Model& model) {
  const config::DataConfig& data = model.config().data;
  if (!model.schema.columns.empty() && fills_with_average(model)) {
    return data.fill == config::Imputation::kMean ? "mean" : "median";
  }
  switch (data.scaling) {
    case config::ScalingMethod::kStandard:
      return "mean";
    case config::ScalingMethod::kMinMax:
      return "minimum";
    case config::ScalingMethod::kRobust:
    case config::ScalingMethod::kQuantile:
    case config::ScalingMethod::kQuantileNormal:
      return "median";
    case config::ScalingMethod::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string baseline_text(const apply::Model& model) {
  const std::string average = average_text(model);
  std::string text = average.empty()
                         ? "each number is 0"
                         : fmt::format("each number is at its {} in the training split", average);
  const bool has_categories =
      std::any_of(model.schema.columns.begin(), model.schema.columns.end(),
                  [](const data::Column& c) { return c.kind == data::ColumnKind::kCategorical; });
  return has_categories ? text + ", each category unknown" : text;
}

data::Matrix baseline_row(const apply::Model& model) {
  const data::Schema& schema = model.schema;
  Array<float> row(schema.scaling.shift.begin(), schema.scaling.shift.end());
  const std::vector<int64_t> first = data::first_features(schema.columns);
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const data::Column& column = schema.columns[i];
    const auto begin = row.begin() + first[i];
    const float scaled_to_zero = data::num_features(column) > 0 ? *begin : 0;
    std::fill_n(begin, data::num_features(column), 0.0F);
    if (data::is_embedded(column)) *begin = static_cast<float>(column.categories.size());
    if (column.kind != data::ColumnKind::kNumeric) continue;
    *begin = scaled_to_zero;
    if (!fills_with_average(model) || !column.fill) continue;
    *begin = column.quantiles.empty()
                 ? *column.fill
                 : data::QuantileScale(column.quantiles, column.quantile_score)(*column.fill);
  }
  return {1, schema.num_features(), std::move(row)};
}

Contributions explain_row(const apply::Model& model, std::span<const ColumnGroup> groups,
                          const data::Matrix& features, int64_t num_threads) {
  const data::Schema& schema = model.schema;
  const data::Matrix row = as_floats(features);
  const data::Matrix baseline = baseline_row(model);
  const std::vector<float> at_row = outputs_of(model, row, num_threads);
  const bool is_regression = schema.task == config::Task::kRegression;
  const int64_t label =
      is_regression
          ? 0
          : metrics::predicted_classes({at_row, model.num_outputs(), model.threshold}).front();
  if (label == metrics::kNoClass || !std::all_of(at_row.begin(), at_row.end(), [](float output) {
        return std::isfinite(output);
      })) {
    throw Error(ErrorKind::kData, "--row: the outputs of the model for this row are not finite");
  }
  Contributions found{.prediction = prediction_text(model, at_row, label),
                      .baseline = baseline_text(model),
                      .cells = {},
                      .outputs = {}};
  const std::span<const float> values = std::get<Array<float>>(row.values);
  for (const ColumnGroup& group : groups) found.cells.push_back(cell_text(group, values));
  const apply::Model open = unlimited(model);
  const std::vector<float> from = outputs_of(open, baseline, num_threads);
  const std::vector<float> to = outputs_of(open, row, num_threads);
  PathIntegral integral(model, baseline, row, num_threads);
  const std::vector<std::size_t> group_of = group_of_features(groups, schema.num_features());
  for (const OutputOfInterest& of :
       is_regression ? targets(schema) : std::vector{predicted_class(model, label)}) {
    found.outputs.push_back(
        explain_output(integral, of, group_of, groups.size(),
                       {.name = of.name, .at_baseline = of.value(from), .at_row = of.value(to)}));
  }
  return found;
}

Quadrature gauss_legendre(int64_t num_nodes) {
  const auto n = static_cast<double>(num_nodes);
  Quadrature q;
  for (int64_t i = 0; i < num_nodes; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
    double slope = 0;
    for (double change = 1; std::abs(change) > 1e-15;) {
      double value = 1;  // the Legendre polynomial of degree k at x, by its recurrence
      double before = 0;
      for (int64_t k = 1; k <= num_nodes; ++k) {
        const auto degree = static_cast<double>(k);
        const double next = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree;
        before = value;
        value = next;
      }
      slope = n * (x * value - before) / (x * x - 1);
      change = value / slope;
      x -= change;
    }
    q.nodes.push_back((1 - x) / 2);
    q.weights.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return q;
}

}  // namespace trainer::explain
