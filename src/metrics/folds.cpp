// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/folds.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/core/text.h"
#include "trainer/core/text_table.h"

namespace trainer::metrics {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> values_of(const std::vector<FoldResult>& folds, const std::string& name) {
  std::vector<double> values;
  for (const FoldResult& fold : folds) {
    if (const auto value = find_score(fold.scores, name)) values.push_back(*value);
  }
  return values;
}

Spread spread_of(const std::vector<FoldResult>& folds, const std::string& name) {
  const std::vector<double> values = values_of(folds, name);
  const auto count = static_cast<double>(values.size());
  Spread spread;
  spread.name = name;
  for (const double value : values) spread.mean += value / count;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = values.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
  return spread;
}

}  // namespace

std::vector<Spread> spreads(const std::vector<FoldResult>& folds) {
  std::vector<Spread> result;
  if (folds.empty()) return result;
  for (const Score& score : folds.front().scores) result.push_back(spread_of(folds, score.name));
  return result;
}

std::string folds_table(const std::vector<FoldResult>& folds) {
  const std::vector<Spread> all = spreads(folds);
  std::vector<std::vector<std::string>> rows = {{"fold", "rows", "best epoch"}};
  std::vector<std::string> means = {"mean", "", ""};
  std::vector<std::string> deviations = {"spread", "", ""};
  for (const Spread& spread : all) {
    rows.front().push_back(spread.name);
    means.push_back(score_text({spread.name, spread.mean}));
    deviations.push_back(score_text({spread.name, spread.deviation}));
  }
  for (const FoldResult& fold : folds) {
    rows.push_back({std::to_string(fold.fold), with_thousands(fold.num_rows),
                    fold.best_epoch == 0 ? "-" : with_thousands(fold.best_epoch)});
    for (const Spread& spread : all) {
      const auto value = find_score(fold.scores, spread.name);
      rows.back().push_back(value ? score_text({spread.name, *value}) : "-");
    }
  }
  rows.push_back(std::move(means));
  rows.push_back(std::move(deviations));
  return text_table(rows);
}

Json to_json(const std::vector<FoldResult>& folds, int64_t num_folds) {
  Json json = {{"folds", num_folds}, {"runs", Json::array()}};
  for (const FoldResult& fold : folds) {
    Json run = {{"fold", fold.fold},
                {"run", fold.run},
                {"best_epoch", fold.best_epoch},
                {"rows", fold.num_rows}};
    for (const Score& score : fold.scores) run[score.name] = score.value;
    json["runs"].push_back(std::move(run));
  }
  for (const Spread& spread : spreads(folds)) {
    json["mean"][spread.name] = spread.mean;
    json["spread"][spread.name] = spread.deviation;
  }
  return json;
}

}  // namespace trainer::metrics
