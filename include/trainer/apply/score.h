// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/config/types.h"
#include "trainer/metrics/report.h"

/// How good outputs of a model are.
namespace trainer::apply {

/// The training loss of each row `[n]`, not weighted.
std::vector<float> row_losses(const Model& model, std::span<const float> outputs,
                              const data::Dataset& rows);

/// The mean loss of rows that come one piece after the other, each counted by its weight.
class MeanLoss {
 public:
  /// Adds the losses `[n]` of these rows.
  void add(std::span<const float> losses, const data::Dataset& rows);
  double value() const { return loss_sum_ / weight_sum_; }

 private:
  double loss_sum_ = 0;
  double weight_sum_ = 0;
};

/// The value of a metric, which fits the task. Nothing where it is not defined for these rows.
std::optional<double> score(const Model& model, config::BestMetric metric,
                            const metrics::LabelledOutputs& labelled);

}  // namespace trainer::apply
