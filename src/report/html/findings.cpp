// SPDX-License-Identifier: Apache-2.0
#include "report/html/findings.h"

#include <filesystem>
#include <vector>

#include "trainer/apply/ensemble.h"
#include "trainer/apply/out_of_fold.h"
#include "trainer/base/error.h"
#include "trainer/metrics/report.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::report {
namespace {

namespace fs = std::filesystem;

/// Returns the folders of the complete runs of the first repeat of a cross-validation.
std::vector<fs::path> fold_runs(const fs::path& folder) {
  std::vector<fs::path> runs;
  for (const JsonReader& run :
       JsonReader::of_file(folder / run::kCrossValidationFile)["runs"].elements()) {
    const bool is_first = !run.has("repeat") || run.integer("repeat") == 1;
    if (is_first) runs.push_back(folder / apply::run_name(run["run"]));
  }
  return runs;
}

Judged judge(const tracking::RunEntry& entry, int64_t num_threads) {
  std::vector<fs::path> folds;
  if (!apply::read_ensemble(entry.folder)) folds = fold_runs(entry.folder);
  Judged judged{apply::load_model(folds.empty() ? entry.folder : folds.front()), {}};
  if (folds.empty()) {
    judged.found = apply::predict_own_split(judged.model, num_threads);
  } else {
    judged.first_fold = apply::predict_own_split(judged.model, num_threads);
    judged.found = apply::predict_folds(judged.model, folds, num_threads);
  }
  return judged;
}

/// Returns the report of the rows.
Json report_of(const Judged& judged) {
  const apply::SplitOutputs& found = judged.found;
  apply::MeanLoss loss;
  loss.add(found.losses, found.rows);
  const metrics::Outputs outputs{found.outputs, judged.model.num_outputs(), judged.model.threshold};
  return metrics::to_json(metrics::make_report({found.schema, found.rows, outputs}, loss.value()));
}

}  // namespace

Findings find_results(const tracking::RunEntry& entry, const ReportOptions& options) {
  const JsonReader summary = JsonReader::of_file(run::RunDir{entry.folder}.summary());
  Findings found{.split = {}, .report = JsonReader(Json()), .problem = {}};
  for (const char* split : {"validation", "test"}) {
    if (!summary.has(split)) continue;
    found.split = split;
    found.report = summary[split];
  }
  if (!options.evaluates) return found;
  try {
    found.judged = judge(entry, options.num_threads);
    if (!found.split.empty()) return found;
    const std::string& split = found.judged->found.split;
    found.split = split == apply::kOutOfFold ? "out-of-fold" : split;
    found.report = JsonReader(report_of(*found.judged));
  } catch (const Error& e) {
    found.problem = e.what();
  }
  return found;
}

}  // namespace trainer::report
