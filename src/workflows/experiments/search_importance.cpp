// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/search_importance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "trainer/base/text/parse.h"

namespace trainer::experiments {
namespace {

using Values = std::vector<double>;  // of each trial
constexpr double kNothing = 1e-9;    // what rounding leaves of a 0

// Equal values share the mean of their ranks.
Values ranks(const Values& values) {
  Values ranks;
  ranks.reserve(values.size());
  for (const double value : values) {
    const auto lower =
        std::count_if(values.begin(), values.end(), [&](double other) { return other < value; });
    const auto equal = std::count(values.begin(), values.end(), value);
    ranks.push_back(static_cast<double>(lower) + static_cast<double>(equal - 1) / 2);
  }
  return ranks;
}

double dot(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

// a -= factor * b
void subtract(double factor, const Values& b, Values& a) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] -= factor * b[i];
}

/// The sum of the squared errors when a constant and the columns, fitted by least squares to the
/// other trials, predict each trial. A trial about which the others say nothing gets their mean.
double error_of_left_out(std::vector<Values> columns, const Values& targets) {
  const auto count = static_cast<double>(targets.size());
  columns.insert(columns.begin(), Values(targets.size(), 1));
  Values centered = targets;
  subtract(dot(targets, columns.front()) / count, columns.front(), centered);
  Values rest = centered;
  Values leverage(targets.size());
  std::vector<Values> basis;
  for (Values& column : columns) {
    const double size = dot(column, column);
    for (const Values& other : basis) subtract(dot(column, other), other, column);
    const double norm = std::sqrt(dot(column, column));
    if (norm * norm <= kNothing * size) continue;
    for (double& value : column) value /= norm;
    subtract(dot(rest, column), column, rest);
    for (std::size_t i = 0; i < rest.size(); ++i) leverage[i] += column[i] * column[i];
    basis.push_back(std::move(column));
  }
  double sum = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const double left = 1 - leverage[i];
    sum += std::pow(left > kNothing ? rest[i] / left : centered[i] * count / (count - 1), 2);
  }
  return sum;
}

std::vector<Values> columns_of(const KeyRange& range, const std::vector<std::string>& texts) {
  std::vector<Values> columns;
  for (const std::string& choice : range.choices) {
    if (range.draw != Draw::kChoice) break;
    Values& column = columns.emplace_back();
    for (const std::string& text : texts) column.push_back(text == choice ? 1 : 0);
  }
  if (range.draw == Draw::kChoice) return columns;
  const bool is_log = range.draw == Draw::kLog;
  const auto scale = [&](double number) { return is_log ? std::log(number) : number; };
  columns.resize(2);
  for (const std::string& text : texts) {
    const double place = (scale(parse_double(text).value_or(range.low)) - scale(range.low)) /
                         (scale(range.high) - scale(range.low));
    columns[0].push_back(place);
    columns[1].push_back(place * place);
  }
  return columns;
}

}  // namespace

std::vector<KeyImportance> key_importance(
    const std::map<config::Recipe, std::vector<KeyRange>>& ranges,
    const std::vector<Trial>& trials) {
  constexpr std::size_t kFewestTrials = 10;
  std::vector<KeyImportance> all;
  for (const auto& [recipe, keys] : ranges) {
    Values losses;
    std::vector<std::vector<std::string>> texts(keys.size());  // of each key and trial
    for (const Trial& trial : trials) {
      if (trial.recipe != recipe || trial.settings.size() != keys.size()) continue;
      losses.push_back(trial.first_loss.value_or(HUGE_VAL));
      for (std::size_t i = 0; i < keys.size(); ++i) texts[i].push_back(trial.settings[i].value);
    }
    if (losses.size() < kFewestTrials) continue;
    const Values targets = ranks(losses);
    const double by_mean = error_of_left_out({}, targets);
    for (std::size_t i = 0; i < keys.size() && by_mean > 0; ++i) {
      const double error = error_of_left_out(columns_of(keys[i], texts[i]), targets);
      all.push_back({recipe, keys[i].key, std::max(0.0, 1 - error / by_mean)});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const KeyImportance& a, const KeyImportance& b) {
    return std::pair(a.recipe, -a.share) < std::pair(b.recipe, -b.share);
  });
  return all;
}

}  // namespace trainer::experiments
