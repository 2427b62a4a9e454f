// SPDX-License-Identifier: Apache-2.0
#include "report/html/findings.h"

#include <filesystem>
#include <utility>
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

ModelOutputs predict_unseen(const tracking::RunEntry& entry, int64_t num_threads) {
  const std::vector<fs::path> folds = fold_runs(entry.folder);
  if (!folds.empty()) {
    apply::FoldOutputs outputs = apply::predict_folds(folds, num_threads);
    return {std::move(outputs.first), std::move(outputs.all), std::move(outputs.of_first)};
  }
  ModelOutputs outputs{apply::load_model(entry.folder), {}};
  outputs.found = apply::predict_own_split(outputs.model, num_threads);
  return outputs;
}

/// Returns the report of the rows.
Json make_report(const ModelOutputs& of) {
  const apply::SplitOutputs& found = of.found;
  apply::MeanLoss loss;
  loss.add(found.losses, found.rows);
  const metrics::Outputs outputs{found.outputs, of.model.num_outputs(), of.model.threshold};
  return metrics::to_json(metrics::make_report({found.schema, found.rows, outputs}, loss.value()));
}

}  // namespace

Findings find_results(const tracking::RunEntry& entry, const ReportOptions& options) {
  Findings found{.summary = JsonReader::of_file(run::RunDir{entry.folder}.summary()),
                 .split = {},
                 .report = JsonReader(Json()),
                 .problem = {}};
  for (const char* split : {"validation", "test"}) {
    if (!found.summary.has(split)) continue;
    found.split = split;
    found.report = found.summary[split];
  }
  if (!options.evaluates) return found;
  try {
    found.outputs = predict_unseen(entry, options.num_threads);
    if (!found.split.empty()) return found;
    const std::string& split = found.outputs->found.split;
    found.split = split == apply::kOutOfFold ? "out-of-fold" : split;
    found.report = JsonReader(make_report(*found.outputs));
  } catch (const Error& e) {
    found.problem = e.what();
  }
  return found;
}

}  // namespace trainer::report
