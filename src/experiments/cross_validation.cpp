// SPDX-License-Identifier: Apache-2.0
#include "trainer/experiments/cross_validation.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/apply/out_of_fold.h"
#include "trainer/config/dump.h"
#include "trainer/core/atomic_file.h"
#include "trainer/core/error.h"
#include "trainer/core/folder_lock.h"
#include "trainer/core/log.h"
#include "trainer/cpu/cpus.h"
#include "trainer/run/run_dir.h"

#include "experiments/fold_runs.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDefaultFolds = 5;

/// A new or resumed cross-validation.
struct CrossValidation {
  fs::path folder;
  std::unique_ptr<run::NewFolder> new_folder;  // of a new one
  std::unique_ptr<FolderLock> lock;
  std::vector<config::Document> documents;
  std::vector<config::Override> overrides;
  metrics::FoldCounts counts{.folds = kDefaultFolds, .repeats = 1};
};

void read_config_files(const CrossValidationRequest& request, CrossValidation& cv) {
  for (const fs::path& file : request.config_files) {
    cv.documents.push_back(config::read_document(file));
  }
}

CrossValidation start(const CrossValidationRequest& request) {
  CrossValidation cv;
  cv.overrides = request.overrides;
  read_config_files(request, cv);
  const config::Config config = config::load(cv.documents, cv.overrides).config;
  if (config.data.folds > 0) cv.counts.folds = config.data.folds;
  if (request.num_folds > 0) cv.counts.folds = request.num_folds;
  cv.counts.repeats = std::max<int64_t>(1, request.num_repeats);
  const std::string tag = config.tag.empty() ? "cv" : config.tag + "_cv";
  cv.new_folder = std::make_unique<run::NewFolder>(fs::absolute(config.output_dir),
                                                   run::run_name(tag, std::time(nullptr)));
  cv.folder = cv.new_folder->path();
  cv.lock = std::make_unique<FolderLock>(cv.folder);
  return cv;
}

config::Loaded fold_config(const CrossValidation& cv, const FoldIndex& index) {
  std::vector<config::Override> overrides = cv.overrides;
  overrides.push_back({"data.folds", std::to_string(cv.counts.folds), "--folds"});
  overrides.push_back({"data.fold", std::to_string(index.fold), "cv"});
  if (cv.counts.repeats > 1) {
    overrides.push_back({"data.repeat", std::to_string(index.repeat), "--repeats"});
  }
  overrides.push_back({"output_dir", cv.folder.string(), "cv"});
  overrides.push_back({"tag", fold_tag(index, cv.counts), "cv"});
  return config::load(cv.documents, overrides);
}

// A mean over folds of different configurations would be meaningless.
void refuse_changes(const CrossValidation& cv, const config::Config& before) {
  std::vector<std::string> changes;
  for (const auto& change : config::fixed_differences(before, fold_config(cv, {}).config)) {
    changes.push_back(
        fmt::format("{}: {} before, {} now", change.key, change.before, change.after));
  }
  if (changes.empty()) return;
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: the configuration differs from that of this cross-validation:\n"
                          "  {}\n"
                          "undo the changes, or start a new one without --resume",
                          cv.folder.string(), fmt::join(changes, "\n  ")));
}

// All runs have the configuration of the first one.
CrossValidation resume(const CrossValidationRequest& request) {
  const std::string given = request.resume->string();
  CrossValidation cv;
  cv.folder = fs::absolute(*request.resume).lexically_normal();
  cv.overrides = request.overrides;
  cv.counts.repeats = find_num_repeats(cv.folder);
  if (request.num_repeats > 0 && request.num_repeats != cv.counts.repeats) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--repeats: {} was started with {}, got {}; remove this option", given,
                            cv.counts.repeats, request.num_repeats));
  }
  const std::optional<fs::path> first = find_fold(cv.folder, {}, cv.counts);
  if (!first) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: expected the folder of a cross-validation, which contains a run "
                            "folder ending in _fold_1; found none",
                            given));
  }
  cv.lock = std::make_unique<FolderLock>(cv.folder);
  cv.documents = {config::read_document(run::RunDir{*first}.config())};
  const config::Config before = config::load(cv.documents, {}).config;
  read_config_files(request, cv);
  cv.counts.folds = config::load(cv.documents, cv.overrides).config.data.folds;
  if (request.num_folds > 0) cv.counts.folds = request.num_folds;
  refuse_changes(cv, before);
  return cv;
}

// Keys that a resume may change, such as the number of epochs, must be the same in all folds.
bool has_config(const fs::path& run_dir, const config::Config& wanted) {
  const fs::path resolved = run::RunDir{run_dir}.config();
  if (!fs::exists(resolved)) return false;
  const config::Document document = config::read_document(resolved);
  return config::dump({config::load({document}, {}).config, {}}) == config::dump({wanted, {}});
}

/// The result of the run, if it is complete and has the wanted configuration.
std::optional<metrics::FoldResult> finished_result(const std::optional<fs::path>& run_dir,
                                                   const FoldIndex& index,
                                                   const config::Config& wanted) {
  if (!run_dir || !has_config(*run_dir, wanted)) return std::nullopt;
  return read_fold(*run_dir, index);
}

FoldJob make_job(config::Loaded config, const std::optional<fs::path>& run_dir) {
  FoldJob job{std::move(config), std::nullopt};
  if (run_dir && fs::exists(run::RunDir{*run_dir}.checkpoints() / "last.pt")) {
    job.resume = checkpoint::open_checkpoint(*run_dir, checkpoint::OpenMode::kResume);
  }
  return job;
}

// Optional: the metrics are complete without it.
void write_predictions(const CrossValidation& cv, const std::vector<apply::FoldRun>& runs) {
  try {
    const int64_t threads = fold_config(cv, {}).config.threads;
    apply::write_out_of_fold(runs, cv.folder / "out_of_fold.csv",
                             threads > 0 ? threads : cpu::usable_cpus());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kData) throw;
    log::warning(fmt::format("out_of_fold.csv was not written: {}", error.what()));
  }
}

}  // namespace

CrossValidationReport cross_validate(const CrossValidationRequest& request) {
  const CrossValidation cv = request.resume ? resume(request) : start(request);
  CrossValidationReport report;
  report.folder = cv.folder;
  std::vector<apply::FoldRun> runs;
  const std::vector<FoldIndex> indices = all_folds(cv.counts);
  fold_config(cv, indices.back());  // reports errors before anything is trained
  for (const FoldIndex& index : indices) {
    const std::string name = fold_name(index, cv.counts);
    const std::optional<fs::path> before = find_fold(cv.folder, index, cv.counts);
    config::Loaded config = fold_config(cv, index);
    std::optional<metrics::FoldResult> result = finished_result(before, index, config.config);
    if (!result) {
      const FoldOutcome outcome = request.train(make_job(std::move(config), before));
      if (outcome.stop_signal != 0) {
        report.stop_signal = outcome.stop_signal;
        report.stopped = name;
        return report;
      }
      result = read_fold(outcome.run_dir, index);
    }
    report.results.push_back(std::move(*result));
    runs.push_back({cv.folder / report.results.back().run, index.fold, index.repeat});
    report.json = results_json(report.results, cv.counts);
    write_file_atomically(cv.folder / "cv.json", report.json);
    request.on_result(report.results.back(), name);
  }
  write_predictions(cv, runs);
  return report;
}

}  // namespace trainer::experiments
