// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/config/types.h"
#include "trainer/metrics/report.h"

/// Losses and scores of the outputs of a model.
namespace trainer::apply {

/// The training loss of each row, `[n]`, not multiplied by the weights of the rows.
std::vector<float> row_losses(const Model& model, std::span<const float> outputs,
                              const data::Dataset& rows);

/// The mean loss, weighted by the weights of the rows, of rows that are added batch by batch.
class MeanLoss {
 public:
  /// Adds the losses `[n]` of `rows`, with the weights of the rows.
  void add(std::span<const float> losses, const data::Dataset& rows);
  double value() const { return loss_sum_ / weight_sum_; }

 private:
  double loss_sum_ = 0;
  double weight_sum_ = 0;
};

/// The value of a metric that fits the task; nothing if it is not defined for these rows.
std::optional<double> score(const Model& model, config::BestMetric metric,
                            const metrics::LabelledOutputs& labelled);

}  // namespace trainer::apply
