// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/tracking/difference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/json_reader.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::tracking {
namespace {

using Numbers = std::vector<double>;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Returns the variance of a sample, with the divisor n - 1.
double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(values.size() - 1);
}

/// Returns the 97.5 % quantile of Student's t-distribution: from a table up to 30 degrees of
/// freedom, above that from its expansion in 1 / df (Abramowitz and Stegun, 26.7.5).
double t_quantile(double degrees) {
  constexpr std::array kTable = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                 2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
  constexpr double kNormal = 1.959964;
  const double whole = std::max(1.0, std::floor(degrees));  // may be infinite
  if (whole <= static_cast<double>(kTable.size())) {
    return kTable[static_cast<std::size_t>(whole) - 1];
  }
  return kNormal + (std::pow(kNormal, 3) + kNormal) / (4 * degrees);
}

Difference interval(double value, double standard_error, double degrees) {
  const double half = t_quantile(degrees) * standard_error;
  return {.metric = "", .value = value, .low = value - half, .high = value + half};
}

/// The scores of the runs of a cross-validation, by repeat and fold.
struct FoldScores {
  int64_t num_folds = 0;
  std::map<std::pair<int64_t, int64_t>, JsonReader> runs;
};

FoldScores read_folds(const RunEntry& entry) {
  FoldScores scores;
  const JsonReader cv = JsonReader::of_file(entry.folder / run::kCrossValidationFile);
  scores.num_folds = cv.integer("folds");
  for (const JsonReader& run : cv["runs"].elements()) {
    scores.runs.emplace(std::pair(run.integer("repeat", 1), run.integer("fold")), run);
  }
  return scores;
}

std::optional<Differences> paired(const RunEntry& a, const RunEntry& b) {
  const FoldScores first = read_folds(a);
  const FoldScores second = read_folds(b);
  if (first.num_folds != second.num_folds || first.num_folds < 2) return std::nullopt;
  // Folds that contain other rows cannot be paired.
  for (const char* key : {"seed", "data.path", "data.query", "data.target"}) {
    if (setting(a, key) != setting(b, key)) return std::nullopt;
  }
  Differences differences;
  for (const metrics::Score& score : a.metrics) {
    const std::string name = score_name(score.name);
    Numbers values;
    for (const auto& [key, run] : first.runs) {
      const auto other = second.runs.find(key);
      if (other == second.runs.end() || !run.has(name) || !other->second.has(name)) continue;
      values.push_back(other->second[name].number() - run[name].number());
    }
    if (values.size() < 2) continue;
    differences.over = counted(std::ssize(values), "fold");
    Difference& added =
        differences.metrics.emplace_back(paired_difference(values, first.num_folds));
    added.metric = score.name;
  }
  if (differences.metrics.empty()) return std::nullopt;
  return differences;
}

/// Returns the settings without the seeds, which are the same for runs that are repetitions.
std::map<std::string, std::string> settings_but_seed(const RunEntry& entry) {
  std::map<std::string, std::string> settings = entry.settings;
  for (const char* key : {"seed", "training.seed"}) settings.erase(key);
  return settings;
}

std::optional<Differences> between_seeds(std::span<const RunEntry> entries) {
  std::vector<std::vector<const RunEntry*>> groups;
  for (const RunEntry& entry : entries) {
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& others) {
      return settings_but_seed(*others.front()) == settings_but_seed(entry);
    });
    if (group == groups.end()) {
      groups.push_back({&entry});
    } else {
      group->push_back(&entry);
    }
  }
  if (groups.size() != 2 || groups[0].size() < 2 || groups[1].size() < 2) return std::nullopt;
  Differences differences{
      .over = fmt::format("{} and {} runs with other seeds", groups[0].size(), groups[1].size()),
      .metrics = {}};
  for (const metrics::Score& score : entries.front().metrics) {
    std::array<Numbers, 2> values;
    for (std::size_t i = 0; i < 2; ++i) {
      for (const RunEntry* entry : groups[i]) {
        if (const auto value = metrics::find_score(entry->metrics, score.name)) {
          values[i].push_back(*value);
        }
      }
    }
    if (values[0].size() < 2 || values[1].size() < 2) continue;
    differences.metrics.push_back(difference_of_means(values[0], values[1]));
    differences.metrics.back().metric = score.name;
  }
  if (differences.metrics.empty()) return std::nullopt;
  return differences;
}

}  // namespace

Difference paired_difference(std::span<const double> differences, int64_t num_folds) {
  const auto count = static_cast<double>(differences.size());
  const double test_by_train = 1 / static_cast<double>(std::max<int64_t>(1, num_folds - 1));
  const double error = std::sqrt(variance_of(differences) * (1 / count + test_by_train));
  return interval(mean_of(differences), error, count - 1);
}

Difference difference_of_means(std::span<const double> first, std::span<const double> second) {
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  const double a = variance_of(first) / n;
  const double b = variance_of(second) / m;
  const double denominator = a * a / (n - 1) + b * b / (m - 1);
  const double degrees = denominator > 0 ? (a + b) * (a + b) / denominator : n + m - 2;
  return interval(mean_of(second) - mean_of(first), std::sqrt(a + b), degrees);
}

std::optional<Differences> find_differences(std::span<const RunEntry> entries) {
  const bool are_folds = entries.size() == 2 && entries[0].kind == Kind::kCrossValidation &&
                         entries[1].kind == Kind::kCrossValidation;
  return are_folds ? paired(entries[0], entries[1]) : between_seeds(entries);
}

}  // namespace trainer::tracking
