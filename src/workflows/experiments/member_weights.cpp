// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/member_weights.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace trainer::experiments {
namespace {

using Rows = std::vector<std::size_t>;
using Weights = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The loss of `sums` divided by `total`, the weighted sum of predictions `[rows, columns]`.
double loss_of(const CandidatePool& pool, const Rows& rows, std::span<const double> sums,
               double total) {
  constexpr double kLeast = 1e-12;  // as the probability of a row, so that the loss is finite
  const auto width = static_cast<std::size_t>(pool.num_columns);
  double sum = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (pool.has_classes) {
      sum -= std::log(std::max(sums[i] / total, kLeast));
      continue;
    }
    for (std::size_t c = 0; c < width; ++c) {
      const double error = sums[i * width + c] / total - pool.values[rows[i] * width + c];
      sum += error * error / static_cast<double>(width);
    }
  }
  const double mean = sum / static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  return std::isnan(mean) ? kInfinity : (pool.has_classes ? mean : std::sqrt(mean));
}

void add_to(const CandidatePool& pool, const Rows& rows, std::size_t candidate, double weight,
            std::vector<double>& sums) {
  const auto width = static_cast<std::size_t>(pool.num_columns);
  const std::vector<float>& predictions = pool.predictions[candidate];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < width; ++c) {
      sums[i * width + c] += weight * static_cast<double>(predictions[rows[i] * width + c]);
    }
  }
}

double loss_with(const CandidatePool& pool, const Rows& rows, std::span<const double> weights) {
  std::vector<double> sums(rows.size() * static_cast<std::size_t>(pool.num_columns));
  double total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    add_to(pool, rows, i, weights[i], sums);
    total += weights[i];
  }
  return loss_of(pool, rows, sums, total);
}

/// The candidates, the best one first.
std::vector<std::size_t> ranking(const CandidatePool& pool, const Rows& rows) {
  std::vector<double> losses;
  for (std::size_t i = 0; i < pool.predictions.size(); ++i) {
    Weights alone(pool.predictions.size());
    alone[i] = 1;
    losses.push_back(loss_with(pool, rows, alone));
  }
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return losses[a] < losses[b]; });
  return order;
}

/// The number of rounds and the rule for ties are those of AutoGluon: a candidate that is in is
/// preferred, and losses count as equal if they differ by less than a millionth.
Weights greedy(const CandidatePool& pool, const Rows& rows) {
  constexpr int kRounds = 40;
  constexpr double kSame = 1e-6;
  std::vector<double> sums(rows.size() * static_cast<std::size_t>(pool.num_columns));
  std::vector<double> tried;
  Weights counts(pool.predictions.size());
  Weights best_counts;
  double best_loss = kInfinity;
  for (int round = 1; round <= kRounds; ++round) {
    std::size_t chosen = 0;
    double chosen_loss = kInfinity;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      tried = sums;
      add_to(pool, rows, i, 1, tried);
      const double loss = loss_of(pool, rows, tried, round);
      const bool is_tie = std::abs(loss - chosen_loss) < kSame * std::abs(loss);
      if (is_tie ? counts[i] > counts[chosen] : loss < chosen_loss) {
        chosen = i;
        chosen_loss = loss;
      }
    }
    add_to(pool, rows, chosen, 1, sums);
    counts[chosen] += 1;
    if (best_counts.empty() || chosen_loss < best_loss * (1 - kSame)) {
      best_loss = chosen_loss;
      best_counts = counts;
    }
  }
  const double total = std::accumulate(best_counts.begin(), best_counts.end(), 0.0);
  for (double& count : best_counts) count /= total;
  return best_counts;
}

/// Without the candidates whose weight is not worth their predictions.
Weights without_small(Weights weights) {
  constexpr double kSmallest = 0.02;
  // Of many that are equal, all may be small.
  const double least = std::min(kSmallest, *std::max_element(weights.begin(), weights.end()));
  for (double& weight : weights) {
    if (weight < least) weight = 0;
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= total;
  return weights;
}

/// What could be chosen by these rows, in the order of preference if they are equally good: the
/// best candidate, the better half of them equally, this and the greedy selection, the greedy
/// selection.
constexpr std::size_t kNumChoices = 4;
std::array<Weights, kNumChoices> all_choices(const CandidatePool& pool, const Rows& rows) {
  const std::vector<std::size_t> order = ranking(pool, rows);
  const std::size_t num_better = (order.size() + 1) / 2;
  Weights best(order.size());
  best[order.front()] = 1;
  Weights half(order.size());
  for (std::size_t i = 0; i < num_better; ++i) half[order[i]] = 1 / static_cast<double>(num_better);
  Weights selected = greedy(pool, rows);
  Weights both = selected;
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = (both[i] + half[i]) / 2;
  std::array<Weights, kNumChoices> choices = {std::move(best), std::move(half), std::move(both),
                                              std::move(selected)};
  for (Weights& weights : choices) weights = without_small(std::move(weights));
  return choices;
}

Rows rows_where(const CandidatePool& pool, int32_t fold, bool is_of_fold) {
  Rows rows;
  for (std::size_t row = 0; row < pool.folds.size(); ++row) {
    if ((pool.folds[row] == fold) == is_of_fold) rows.push_back(row);
  }
  return rows;
}

/// The losses of the choices for all rows, each row with the weights that the other folds choose.
std::array<double, kNumChoices> losses_across_folds(const CandidatePool& pool) {
  std::array<double, kNumChoices> losses = {};
  for (const int32_t fold : std::set<int32_t>(pool.folds.begin(), pool.folds.end())) {
    const Rows rows = rows_where(pool, fold, true);
    const auto choices = all_choices(pool, rows_where(pool, fold, false));
    for (std::size_t i = 0; i < kNumChoices; ++i) {
      const double loss = loss_with(pool, rows, choices[i]);
      losses[i] += static_cast<double>(rows.size()) * (pool.has_classes ? loss : loss * loss);
    }
  }
  for (double& loss : losses) {
    loss /= static_cast<double>(pool.folds.size());
    if (!pool.has_classes) loss = std::sqrt(loss);
  }
  return losses;
}

Rows all_rows(const CandidatePool& pool) {
  Rows rows(pool.folds.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

}  // namespace

double pool_loss(const CandidatePool& pool, std::span<const double> weights) {
  return loss_with(pool, all_rows(pool), weights);
}

ChosenWeights choose_weights(const CandidatePool& pool) {
  const std::array<double, kNumChoices> losses = losses_across_folds(pool);
  const auto best = std::min_element(losses.begin(), losses.end());
  std::array<Weights, kNumChoices> choices = all_choices(pool, all_rows(pool));
  ChosenWeights chosen{
      .weights = std::move(choices[static_cast<std::size_t>(std::distance(losses.begin(), best))]),
      .loss = 0,
      .expected_loss = *best};
  chosen.loss = pool_loss(pool, chosen.weights);
  return chosen;
}

ChosenWeights choose_few_weights(const CandidatePool& pool, std::size_t count) {
  ChosenWeights all = choose_weights(pool);
  Rows order(all.weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return all.weights[a] > all.weights[b]; });
  if (order.size() <= count || all.weights[order[count]] == 0) return all;
  order.resize(count);
  CandidatePool few = {pool.has_classes, pool.num_columns, pool.values, pool.folds, {}};
  for (const std::size_t i : order) few.predictions.push_back(pool.predictions[i]);
  ChosenWeights chosen = choose_weights(few);
  Weights weights(pool.predictions.size());
  for (std::size_t i = 0; i < count; ++i) weights[order[i]] = chosen.weights[i];
  chosen.weights = std::move(weights);
  return chosen;
}

}  // namespace trainer::experiments
