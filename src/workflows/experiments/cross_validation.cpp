// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/experiments/cross_validation.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include <fmt/format.h>

#include "trainer/apply/out_of_fold.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/log.h"

#include "workflows/experiments/complete_runs.h"
#include "workflows/experiments/fold_runs.h"
#include "workflows/experiments/run_series.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

/// A cross-validation that was started or resumed.
struct CrossValidation {
  RunSeries series;
  metrics::FoldCounts counts{.folds = kDefaultFolds, .repeats = 1};
};

SeriesRun fold_run(const CrossValidation& cv, const FoldIndex& index) {
  SeriesRun run{.tag = fold_tag(index, cv.counts), .name = fold_name(index, cv.counts)};
  run.overrides = {{"data.folds", std::to_string(cv.counts.folds), "--folds"},
                   {"data.fold", std::to_string(index.fold), "cv"}};
  if (cv.counts.repeats > 1) {
    run.overrides.push_back({"data.repeat", std::to_string(index.repeat), "--repeats"});
  }
  return run;
}

CrossValidation start(const CrossValidationRequest& request) {
  CrossValidation cv{new_series(request)};
  const config::Config config = shared_config(cv.series);
  if (config.data.folds > 0) cv.counts.folds = config.data.folds;
  if (request.num_folds > 0) cv.counts.folds = request.num_folds;
  cv.counts.repeats = std::max<int64_t>(1, request.num_repeats);
  const auto is_same = [&] { return has_same_runs(cv.series, fold_run(cv, {})); };
  open_series(request, "cv", is_same, cv.series);
  return cv;
}

// The configuration of the first run is that of all runs.
CrossValidation resume(const CrossValidationRequest& request) {
  CrossValidation cv;
  cv.counts.repeats = find_num_repeats(*request.resume);
  if (request.num_repeats > 0 && request.num_repeats != cv.counts.repeats) {
    refuse_option(request, "--repeats", std::to_string(cv.counts.repeats),
                  std::to_string(request.num_repeats));
  }
  cv.series = read_series(request, fold_tag({}, cv.counts), "a cross-validation");
  cv.counts.folds = shared_config(cv.series).data.folds;
  if (request.num_folds > 0) cv.counts.folds = request.num_folds;
  refuse_changes(cv.series, fold_run(cv, {}), "cross-validation");
  resume_series(request, cv.series);
  return cv;
}

// A data error is only a warning here, because the metrics are complete without this file.
void write_predictions(const CrossValidation& cv, const std::vector<apply::FoldRun>& runs) {
  try {
    apply::write_out_of_fold(runs, cv.series.folder / "out_of_fold.csv",
                             num_threads(shared_config(cv.series)));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kData) throw;
    log::warning(fmt::format("out_of_fold.csv was not written: {}", error.what()));
  }
}

std::vector<SeriesRun> fold_runs(const CrossValidation& cv, const std::vector<FoldIndex>& indices) {
  std::vector<SeriesRun> runs;
  runs.reserve(indices.size());
  for (const FoldIndex& index : indices) runs.push_back(fold_run(cv, index));
  return runs;
}

}  // namespace

CrossValidationReport cross_validate(const CrossValidationRequest& request) {
  CrossValidation cv = request.resume ? resume(request) : start(request);
  const fs::path& folder = cv.series.folder;
  CrossValidationReport report;
  report.folder = folder;
  report.is_collected = cv.series.place.rank == 0;
  const std::vector<FoldIndex> indices = all_folds(cv.counts);
  const std::vector<SeriesRun> folds = fold_runs(cv, indices);
  run_config(cv.series, folds.back());  // reports errors before anything is trained
  std::vector<apply::FoldRun> runs;
  const auto add = [&](std::size_t i, const fs::path& run_dir) {
    report.results.push_back(read_fold(run_dir, indices[i]).value());
    runs.push_back({run_dir, indices[i].fold, indices[i].repeat});
    report.counts = cv.counts;
    write_file_atomically(
        folder / run::kCrossValidationFile,
        metrics::folds_document(report.results, report.counts).json().dump(2) + "\n");
    request.on_result(report.results.back(), folds[i].name);
  };
  const SeriesEnd end = complete_runs(cv.series, folds, request.train, add);
  report.stop_signal = end.stop_signal;
  report.stopped = end.stopped;
  if (end.stop_signal != 0 || !report.is_collected) return report;
  write_predictions(cv, runs);
  return report;
}

}  // namespace trainer::experiments
