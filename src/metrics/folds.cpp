// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/folds.h"

#include <cmath>

#include <fmt/format.h>

#include "trainer/core/find_by_name.h"
#include "trainer/core/format.h"
#include "trainer/core/json.h"
#include "trainer/core/text_table.h"

namespace trainer::metrics {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using Member = std::vector<Score> FoldResult::*;

/// Of the folds that have it.
std::vector<double> collect_values(const std::vector<FoldResult>& folds, Member scores,
                                   const std::string& name) {
  std::vector<double> values;
  for (const FoldResult& fold : folds) {
    if (const auto value = find_score(fold.*scores, name)) values.push_back(*value);
  }
  return values;
}

Spread make_spread(const std::vector<double>& values, const std::string& name) {
  const auto count = static_cast<double>(values.size());
  Spread spread;
  spread.name = name;
  for (const double value : values) spread.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = values.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
  return spread;
}

// Of the metrics that some fold has: where its rows are of one class, a ranking is not defined.
std::vector<Spread> make_spreads(const std::vector<FoldResult>& folds, Member scores) {
  std::vector<Spread> result;
  for (const FoldResult& fold : folds) {
    for (const Score& score : fold.*scores) {
      if (find_by_name(result, score.name) != nullptr) continue;
      result.push_back(make_spread(collect_values(folds, scores, score.name), score.name));
    }
  }
  return result;
}

std::vector<Score> take_means(const std::vector<Spread>& all) {
  std::vector<Score> means;
  means.reserve(all.size());
  for (const Spread& spread : all) means.push_back({spread.name, spread.mean});
  return means;
}

std::string cell(const std::vector<Score>& scores, const std::string& name) {
  const auto value = find_score(scores, name);
  return value ? score_text({name, *value}) : "-";
}

/// Each fold, by the scores that people look at first.
std::string headline_table(const std::vector<FoldResult>& folds, const std::vector<Spread>& all) {
  const bool repeats = folds.back().repeat > 1;
  Rows rows = {{"fold", "rows", "best epoch"}};
  std::vector<std::string> means = {"mean", "", ""};
  std::vector<std::string> deviations = {"std", "", ""};
  for (const FoldResult& fold : folds) {
    rows.push_back(
        {repeats ? fmt::format("{}, repeat {}", fold.fold, fold.repeat) : std::to_string(fold.fold),
         with_thousands(fold.num_rows),
         fold.best_epoch == 0 ? "-" : with_thousands(fold.best_epoch)});
  }
  for (const Spread& spread : all) {
    if (!is_headline(spread.name)) continue;
    rows.front().push_back(spread.name);
    for (std::size_t i = 0; i < folds.size(); ++i) {
      rows[i + 1].push_back(cell(folds[i].scores, spread.name));
    }
    means.push_back(score_text({spread.name, spread.mean}));
    deviations.push_back(score_text({spread.name, spread.deviation}));
  }
  rows.push_back(std::move(means));
  rows.push_back(std::move(deviations));
  return text_table(rows);
}

std::string all_scores_table(const std::vector<Spread>& all, const std::vector<Score>& baseline) {
  Rows rows = {{"metric", "mean", "std", "baseline"}};
  for (const Spread& spread : all) {
    rows.push_back({spread.name, score_text({spread.name, spread.mean}),
                    score_text({spread.name, spread.deviation}), cell(baseline, spread.name)});
  }
  return text_table(rows);
}

}  // namespace

std::vector<Spread> spreads(const std::vector<FoldResult>& folds) {
  return make_spreads(folds, &FoldResult::scores);
}

std::string folds_table(const std::vector<FoldResult>& folds) {
  const std::vector<Spread> all = spreads(folds);
  std::string text = headline_table(folds, all);
  const std::vector<Score> baseline = take_means(make_spreads(folds, &FoldResult::baseline));
  if (baseline.empty()) return text;
  text += "\n" + all_scores_table(all, baseline);
  const std::vector<std::string> names = not_better(take_means(all), baseline);
  if (!names.empty()) {
    text += fmt::format("\nthe model does not beat the baseline in {}\n", joined(names));
  }
  return text;
}

Json to_json(const std::vector<FoldResult>& folds, const FoldCounts& counts) {
  Json json = {{"folds", counts.folds}};
  if (counts.repeats > 1) json["repeats"] = counts.repeats;
  json["runs"] = Json::array();
  for (const FoldResult& fold : folds) {
    Json run = {{"fold", fold.fold}};
    if (counts.repeats > 1) run["repeat"] = fold.repeat;
    run.update({{"run", fold.run}, {"best_epoch", fold.best_epoch}, {"rows", fold.num_rows}});
    for (const Score& score : fold.scores) run[score.name] = score.value;
    for (const Score& score : fold.baseline) run["baseline"][score.name] = score.value;
    json["runs"].push_back(std::move(run));
  }
  for (const Spread& spread : spreads(folds)) {
    json["mean"][spread.name] = spread.mean;
    json["std"][spread.name] = spread.deviation;
  }
  for (const Spread& spread : make_spreads(folds, &FoldResult::baseline)) {
    json["baseline"][spread.name] = spread.mean;
  }
  return json;
}

}  // namespace trainer::metrics
