// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/config.h"

namespace trainer::config {

// https://pandas.pydata.org/docs/reference/api/pandas.read_csv.html, na_values
std::vector<std::string> default_missing_texts() {
  return {"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "1.#IND", "1.#QNAN",
          "<NA>", "N/A",      "NA",  "NULL",    "NaN",      "None", "?"};
}

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
    case BestMetric::kLogLoss:
    case BestMetric::kAccuracy:
    case BestMetric::kBalancedAccuracy:
    case BestMetric::kF1:
    case BestMetric::kBinaryF1:
    case BestMetric::kAuroc:
    case BestMetric::kPrAuc:
      return task != Task::kRegression;
    case BestMetric::kMae:
    case BestMetric::kRmse:
    case BestMetric::kMape:
    case BestMetric::kR2:
      break;
  }
  return task != Task::kClassification;
}

bool is_better_when_larger(BestMetric metric) {
  switch (metric) {
    case BestMetric::kLoss:
    case BestMetric::kLogLoss:
    case BestMetric::kMae:
    case BestMetric::kRmse:
    case BestMetric::kMape:
      return false;
    default:
      return true;
  }
}

std::vector<int64_t> hidden_sizes(const ModelConfig& model) {
  if (!model.hidden_sizes.empty()) return model.hidden_sizes;
  return std::vector<int64_t>(static_cast<std::size_t>(model.num_layers), model.hidden_size);
}

}  // namespace trainer::config
