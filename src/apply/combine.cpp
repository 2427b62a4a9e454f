// SPDX-License-Identifier: Apache-2.0
// Means of probabilities are computed from their logarithms, so that no small one becomes 0.
#include "apply/combine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace trainer::apply {
namespace {

// log(sum(exp(values))).
double log_sum_exp(std::span<const double> values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (const double value : values) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

// The logarithms of the probabilities of the classes; of both where there is a single logit.
void find_log_probabilities(std::span<const float> logits, std::vector<double>& logs) {
  logs.assign(logits.begin(), logits.end());
  if (logits.size() == 1) logs.insert(logs.begin(), 0.0);
  const double sum = log_sum_exp(logs);
  for (double& log : logs) log -= sum;
}

void combine_classes(std::span<const std::vector<float>> members, std::size_t width,
                     std::span<float> outputs) {
  std::vector<std::vector<double>> logs(members.size());
  std::vector<double> of_class(members.size());
  std::vector<double> means(std::max<std::size_t>(2, width));
  for (std::size_t row = 0; row < outputs.size(); row += width) {
    for (std::size_t m = 0; m < members.size(); ++m) {
      find_log_probabilities(std::span(members[m]).subspan(row, width), logs[m]);
    }
    for (std::size_t c = 0; c < means.size(); ++c) {
      for (std::size_t m = 0; m < members.size(); ++m) of_class[m] = logs[m][c];
      means[c] = log_sum_exp(of_class) - std::log(static_cast<double>(members.size()));
    }
    if (width == 1) {
      outputs[row] = static_cast<float>(means[1] - means[0]);
    } else {
      std::copy(means.begin(), means.end(), outputs.begin() + static_cast<std::ptrdiff_t>(row));
    }
  }
}

void combine_numbers(std::span<const std::vector<float>> members, std::span<float> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    double sum = 0;
    for (const std::vector<float>& member : members) sum += static_cast<double>(member[i]);
    outputs[i] = static_cast<float>(sum / static_cast<double>(members.size()));
  }
}

}  // namespace

void combine_outputs(const Model& model, std::span<const std::vector<float>> members,
                     std::span<float> outputs) {
  if (model.schema.task == config::Task::kRegression) {
    combine_numbers(members, outputs);
  } else {
    combine_classes(members, static_cast<std::size_t>(model.network.num_outputs), outputs);
  }
}

}  // namespace trainer::apply
