// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/config.h"

namespace trainer::config {

Loss loss_for(Loss loss, Task task) {
  if (loss != Loss::kAuto) return loss;
  return task == Task::kRegression ? Loss::kMse : Loss::kCrossEntropy;
}

bool is_for_classes(Loss loss) {
  return loss == Loss::kCrossEntropy || loss == Loss::kBinaryCrossEntropy;
}

bool is_for_regression(Loss loss) { return loss != Loss::kAuto && !is_for_classes(loss); }

bool fits_task(BestMetric metric, Task task) {
  switch (metric) {
    case BestMetric::kLoss:
      return true;
    case BestMetric::kAccuracy:
    case BestMetric::kF1:
    case BestMetric::kAuroc:
      return task != Task::kRegression;
    case BestMetric::kMae:
    case BestMetric::kRmse:
    case BestMetric::kR2:
      break;
  }
  return task != Task::kClassification;
}

bool is_better_when_larger(BestMetric metric) {
  return metric != BestMetric::kLoss && metric != BestMetric::kMae && metric != BestMetric::kRmse;
}

std::vector<int64_t> hidden_sizes(const ModelConfig& model) {
  if (!model.hidden_sizes.empty()) return model.hidden_sizes;
  return std::vector<int64_t>(static_cast<std::size_t>(model.num_layers), model.hidden_size);
}

}  // namespace trainer::config
