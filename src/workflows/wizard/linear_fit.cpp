// SPDX-License-Identifier: Apache-2.0
// Conjugate gradients for least squares (CGLS; Hestenes and Stiefel, 1952). Ended early, they give
// what partial least squares gives: directions of small variance come last.
#include "trainer/workflows/wizard/linear_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace trainer::wizard {
namespace {

using Vector = std::vector<double>;

constexpr int64_t kMaxRows = 2'000;

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add(double factor, std::span<const double> from, std::span<double> to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * from[i];
}

/// Rows of features with their targets, one row after the other.
struct Rows {
  std::size_t width = 0;
  Vector features;
  Vector targets;

  std::span<const double> row(std::size_t i) const {
    return std::span(features).subspan(i * width, width);
  }
};

Rows read(const data::Dataset& split, const data::Schema& schema) {
  const int64_t num_rows = std::min(kMaxRows, split.size());
  Rows rows{
      .width = static_cast<std::size_t>(schema.num_features()), .features = {}, .targets = {}};
  for (int64_t row = 0; row < num_rows; ++row) {
    for (int64_t column = 0; column < schema.num_features(); ++column) {
      rows.features.push_back(data::value_at(split.features, row, column));
    }
    rows.targets.push_back(split.values[static_cast<std::size_t>(row * schema.num_targets())]);
  }
  return rows;
}

// Scales the columns of both by the means and deviations of those of `train`.
void standardize(Rows& train, Rows& validation) {
  const auto num_rows = static_cast<double>(train.targets.size());
  for (std::size_t column = 0; column < train.width; ++column) {
    double sum = 0;
    double squares = 0;
    for (std::size_t i = column; i < train.features.size(); i += train.width) {
      sum += train.features[i];
    }
    const double mean = sum / num_rows;
    for (std::size_t i = column; i < train.features.size(); i += train.width) {
      squares += (train.features[i] - mean) * (train.features[i] - mean);
    }
    const double scale = squares > 0 ? std::sqrt(num_rows / squares) : 0;
    for (Rows* rows : {&train, &validation}) {
      for (std::size_t i = column; i < rows->features.size(); i += rows->width) {
        rows->features[i] = (rows->features[i] - mean) * scale;
      }
    }
  }
}

void subtract_mean(Rows& train, Rows& validation) {
  const double mean = std::accumulate(train.targets.begin(), train.targets.end(), 0.0) /
                      static_cast<double>(train.targets.size());
  for (Rows* rows : {&train, &validation}) {
    for (double& target : rows->targets) target -= mean;
  }
}

double squared_error(const Rows& rows, std::span<const double> weights) {
  double error = 0;
  for (std::size_t i = 0; i < rows.targets.size(); ++i) {
    const double difference = rows.targets[i] - dot(rows.row(i), weights);
    error += difference * difference;
  }
  return error;
}

// The sum of the rows, each times its factor.
Vector combine(const Rows& rows, std::span<const double> factors) {
  Vector sum(rows.width);
  for (std::size_t i = 0; i < factors.size(); ++i) add(factors[i], rows.row(i), sum);
  return sum;
}

}  // namespace

double linear_r2(const data::Datasets& data) {
  constexpr int kSteps = 200;
  Rows train = read(data.train, data.schema);
  Rows validation = read(data.validation, data.schema);
  if (train.targets.empty() || validation.targets.empty()) return 0;
  standardize(train, validation);
  subtract_mean(train, validation);
  const double total = dot(validation.targets, validation.targets);
  double least = total;
  Vector weights(train.width);
  Vector residuals = train.targets;
  Vector gradient = combine(train, residuals);
  Vector direction = gradient;
  double norm = dot(gradient, gradient);
  for (int step = 0; step < kSteps && norm > 0; ++step) {
    Vector change(residuals.size());
    for (std::size_t i = 0; i < change.size(); ++i) change[i] = dot(train.row(i), direction);
    const double length = norm / dot(change, change);
    if (!std::isfinite(length)) break;
    add(length, direction, weights);
    add(-length, change, residuals);
    least = std::min(least, squared_error(validation, weights));
    gradient = combine(train, residuals);
    const double before = std::exchange(norm, dot(gradient, gradient));
    for (std::size_t i = 0; i < direction.size(); ++i) {
      direction[i] = gradient[i] + norm / before * direction[i];
    }
  }
  return total > 0 ? 1 - least / total : 0;
}

}  // namespace trainer::wizard
