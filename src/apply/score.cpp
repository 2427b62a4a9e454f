// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/score.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/metrics/classification.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/losses.h"

namespace trainer::apply {

std::vector<float> row_losses(const Model& model, std::span<const float> outputs,
                              const data::Dataset& rows) {
  const int64_t width = model.num_outputs();
  const std::vector<float> no_bias(static_cast<std::size_t>(width));
  std::vector<float> changed(outputs.begin(), outputs.end());  // the kernels overwrite it
  std::vector<float> losses(outputs.size() / static_cast<std::size_t>(width));
  std::vector<int32_t> correct(losses.size());
  const cpu::LossInput input{.tile = {.num_rows = static_cast<int64_t>(losses.size()),
                                      .num_columns = width,
                                      .stride = width},
                             .outputs = changed.data(),
                             .bias = no_bias.data(),
                             .label_smoothing = model.config().training.label_smoothing,
                             .huber_delta = model.config().training.huber_delta,
                             .wants_gradient = false};
  const bool is_regression = model.schema.task == config::Task::kRegression;
  cpu::compute_losses(cpu::kernels(), model.loss, input,
                      {.classes = is_regression ? nullptr : rows.classes.data(),
                       .values = is_regression ? rows.values.data() : nullptr},
                      {.losses = losses.data(), .correct = correct.data()});
  return losses;
}

void MeanLoss::add(std::span<const float> losses, const data::Dataset& rows) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double weight = rows.weights.empty() ? 1 : static_cast<double>(rows.weights[i]);
    loss_sum_ += weight * static_cast<double>(losses[i]);
    weight_sum_ += weight;
  }
}

// The losses are computed directly, without all other scores, which take long for many classes.
std::optional<double> score(const Model& model, config::BestMetric metric,
                            const metrics::LabelledOutputs& labelled) {
  const std::span<const int64_t> classes = labelled.rows.classes;
  if (metric == config::BestMetric::kLoss) {
    MeanLoss mean;
    mean.add(row_losses(model, labelled.outputs.values, labelled.rows), labelled.rows);
    return mean.value();
  }
  if (metric == config::BestMetric::kLogLoss || metric == config::BestMetric::kCalibratedLogLoss) {
    return metrics::log_loss(labelled.outputs, classes);  // a model's outputs are calibrated
  }
  const bool ranks = metric == config::BestMetric::kAuroc || metric == config::BestMetric::kPrAuc;
  const std::optional<double> value = metrics::find_score(
      metrics::scores(labelled, ranks ? metrics::Ranking::kOfAll : metrics::Ranking::kOfTwoClasses),
      to_text(metric));
  return value && std::isnan(*value) ? std::nullopt : value;
}

}  // namespace trainer::apply
