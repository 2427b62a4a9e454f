// SPDX-License-Identifier: Apache-2.0
#include "trainer/metrics/folds.h"

#include <cmath>

#include <fmt/format.h>

#include "trainer/base/text/enum_names.h"
#include "trainer/base/text/format.h"

namespace trainer::metrics {
namespace {

using Member = std::vector<Score> FoldResult::*;

/// Returns the values of a score in the folds that have it.
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

// Returns the spread of each score that any fold has. A fold may lack a score: if all its rows are
// of one class, a ranking is undefined.
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

/// Returns the cell of a score; "-" in the text if the fold lacks it.
Cell score_cell(const std::vector<Score>& scores, const std::string& name) {
  const auto value = find_score(scores, name);
  return value ? Cell(*value, score_text({name, *value})) : without_data("-");
}

/// Adds a table with a row for each fold. The text shows only the headline scores.
void add_folds(const std::vector<FoldResult>& folds, const std::vector<Spread>& all,
               const FoldCounts& counts, Document& document) {
  const bool repeats = counts.repeats > 1;
  std::vector<TableColumn> columns = {
      {"fold", "fold", Align::kLeft},
      {.key = repeats ? "repeat" : "", .title = "repeat", .is_shown = repeats},
      {.key = "run", .title = "", .is_shown = false},
      {"best_epoch", "best epoch"},
      {"rows", "rows"}};
  std::vector<std::string> means = {"mean", "", "", "", ""};
  std::vector<std::string> deviations = {"std", "", "", "", ""};
  for (const Spread& spread : all) {
    columns.push_back(
        {.key = spread.name, .title = spread.name, .is_shown = is_headline(spread.name)});
    means.push_back(score_text({spread.name, spread.mean}));
    deviations.push_back(score_text({spread.name, spread.deviation}));
  }
  columns.push_back({.key = "baseline", .title = "", .is_shown = false});
  Table& table = document.table("runs", std::move(columns));
  for (const FoldResult& fold : folds) {
    std::vector<Cell> row = {
        {fold.fold, std::to_string(fold.fold)},
        {fold.repeat, std::to_string(fold.repeat)},
        fold.run,
        {fold.best_epoch, fold.best_epoch == 0 ? "-" : with_thousands(fold.best_epoch)},
        {fold.num_rows, with_thousands(fold.num_rows)}};
    for (const Spread& spread : all) row.push_back(score_cell(fold.scores, spread.name));
    row.push_back(fold.baseline.empty() ? without_data() : Cell(scores_json(fold.baseline), ""));
    table.add(std::move(row));
  }
  table.add_summary(std::move(means));
  table.add_summary(std::move(deviations));
}

/// Shows the scores beside the baseline, and names those in which the model does not beat it.
void show_means(const std::vector<Spread>& all, const std::vector<Score>& baseline,
                Document& document) {
  Table table({{"", "metric", Align::kLeft}, {"", "mean"}, {"", "std"}, {"", "baseline"}});
  for (const Spread& spread : all) {
    table.add({spread.name, score_text({spread.name, spread.mean}),
               score_text({spread.name, spread.deviation}), score_cell(baseline, spread.name)});
  }
  document.show(std::move(table));
  const std::vector<std::string> names = not_better(take_means(all), baseline);
  if (!names.empty()) {
    document.paragraph("the model does not beat the baseline in " + joined(names));
  }
}

void add_means(const std::vector<FoldResult>& folds, const std::vector<Spread>& all,
               Document& document) {
  const std::vector<Score> baseline = take_means(make_spreads(folds, &FoldResult::baseline));
  for (const Spread& spread : all) document.data("mean." + spread.name, spread.mean);
  for (const Spread& spread : all) document.data("std." + spread.name, spread.deviation);
  if (baseline.empty()) return;
  document.data("baseline", scores_json(baseline));
  show_means(all, baseline, document);
}

}  // namespace

std::vector<Spread> spreads(const std::vector<FoldResult>& folds) {
  return make_spreads(folds, &FoldResult::scores);
}

Document folds_document(const std::vector<FoldResult>& folds, const FoldCounts& counts) {
  Document document;
  document.data("folds", counts.folds);
  if (counts.repeats > 1) document.data("repeats", counts.repeats);
  const std::vector<Spread> all = spreads(folds);
  add_folds(folds, all, counts, document);
  add_means(folds, all, document);
  return document;
}

}  // namespace trainer::metrics
