// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/conformal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/labelled_rows.h"
#include "trainer/apply/predictor.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"

namespace trainer::apply {
namespace {

/// The rank of the error, counted from 1, that the next row exceeds with probability 1 - coverage.
/// The small number keeps 0.9 * 10 from being rounded up.
int64_t rank_of(double coverage, int64_t num_rows) {
  constexpr double kRounding = 1e-9;
  return static_cast<int64_t>(
      std::ceil(coverage * (static_cast<double>(num_rows) + 1) - kRounding));
}

void require_enough(const Model& model, double coverage, int64_t num_rows) {
  if (num_rows > 0 && rank_of(coverage, num_rows) <= num_rows) return;
  throw Error(ErrorKind::kData,
              fmt::format("--interval: {}: expected at least {} that the model was not trained on, "
                          "as {} needs, got {}; choose a smaller number, or train with a larger "
                          "validation split or an ensemble",
                          model.file.string(),
                          counted(static_cast<int64_t>(std::ceil(coverage / (1 - coverage))),
                                  "validation row"),
                          shortest(coverage), with_thousands(num_rows)));
}

double ranked(std::vector<double>& errors, double coverage) {
  for (double& error : errors) {
    if (std::isnan(error)) error = std::numeric_limits<double>::infinity();
  }
  const auto rank = errors.begin() + rank_of(coverage, std::ssize(errors)) - 1;
  std::nth_element(errors.begin(), rank, errors.end());
  return *rank;
}

}  // namespace

Conformal find_intervals(const Model& model, double coverage, int64_t num_threads) {
  const SplitRows found = own_validation(model);
  require_enough(model, coverage, found.rows.size());
  std::vector<float> outputs;
  Predictor(model, num_threads).predict(found.rows.features, outputs, found.fold_of_row);
  Conformal conformal{.coverage = coverage, .num_rows = found.rows.size()};
  std::vector<double> errors(static_cast<std::size_t>(found.rows.size()));
  if (model.schema.task == config::Task::kClassification) {
    const std::vector<float> all = probabilities(model, outputs);
    const std::size_t width = model.schema.labels.size();
    for (std::size_t row = 0; row < errors.size(); ++row) {
      errors[row] = -all[row * width + static_cast<std::size_t>(found.rows.classes[row])];
    }
    conformal.bounds = {-ranked(errors, coverage)};
    return conformal;
  }
  const std::vector<double> predicted = predicted_values(model, outputs);
  const std::vector<double> targets = data::true_values(model.schema, found.rows);
  const auto width = static_cast<std::size_t>(model.schema.num_targets());
  for (std::size_t target = 0; target < width; ++target) {
    for (std::size_t row = 0; row < errors.size(); ++row) {
      const std::size_t at = row * width + target;
      errors[row] = std::abs(predicted[at] - targets[at]);
    }
    conformal.bounds.push_back(ranked(errors, coverage));
  }
  return conformal;
}

double lowest_probability(const Conformal& conformal, std::span<const double> probabilities,
                          int64_t predicted) {
  return std::min(conformal.bounds.front(), probabilities[static_cast<std::size_t>(predicted)]);
}

}  // namespace trainer::apply
