// SPDX-License-Identifier: Apache-2.0
#include "table/split/row_weights.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/config/data_config.h"

namespace trainer::data {
namespace {

/// How much a row of each class counts, so that all classes count alike: n / (classes * n of it).
std::vector<double> balanced_weights(std::span<const int64_t> classes, size_t num_classes) {
  std::vector<double> weights(num_classes);
  for (const int64_t label : classes) ++weights[static_cast<size_t>(label)];
  for (double& weight : weights) {
    weight = static_cast<double>(classes.size()) / (static_cast<double>(num_classes) * weight);
  }
  return weights;
}

void add_class_weights(Dataset& split, const std::vector<double>& class_weights) {
  if (split.weights.empty()) split.weights.resize(split.classes.size(), 1.0F);
  for (size_t row = 0; row < split.weights.size(); ++row) {
    const double factor = class_weights[static_cast<size_t>(split.classes[row])];
    split.weights[row] = static_cast<float>(split.weights[row] * factor);
  }
}

// A mean of losses over rows is then the weighted mean.
void make_mean_one(Dataset& split) {
  if (split.weights.empty()) return;
  const double sum = std::accumulate(split.weights.begin(), split.weights.end(), 0.0);
  const double factor = static_cast<double>(split.weights.size()) / sum;
  for (float& weight : split.weights) weight = static_cast<float>(weight * factor);
}

}  // namespace

void weigh_rows(Datasets& datasets, const config::DataConfig& data) {
  if (data.class_weights == config::ClassWeights::kBalanced) {
    if (datasets.schema.task == config::Task::kRegression) {
      throw Error(ErrorKind::kUsage,
                  fmt::format("data.class_weights: balanced requires classes, but the target {} is "
                              "numeric; remove it or set data.task: classification",
                              joined(datasets.schema.target_names)));
    }
    const std::vector<double> class_weights =
        balanced_weights(datasets.train.classes, datasets.schema.labels.size());
    // The others count as any other rows with these classes would be.
    add_class_weights(datasets.train, class_weights);
  }
  make_mean_one(datasets.train);
  make_mean_one(datasets.validation);
  make_mean_one(datasets.test);
}

}  // namespace trainer::data
