// SPDX-License-Identifier: Apache-2.0
#include "cli/cv_command.h"

#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/checkpoint/resume_point.h"
#include "trainer/config/dump.h"
#include "trainer/core/atomic_file.h"
#include "trainer/core/error.h"
#include "trainer/core/folder_lock.h"
#include "trainer/core/log.h"
#include "trainer/core/text.h"
#include "trainer/metrics/folds.h"
#include "trainer/run/run_dir.h"

#include "cli/cv_runs.h"
#include "cli/engine_library.h"
#include "cli/progress_bar.h"
#include "cli/shell_word.h"
#include "cli/train_command.h"

namespace trainer::cli {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDefaultFolds = 5;

/// A cross-validation: where it is, and of what.
struct CrossValidation {
  fs::path folder;
  std::unique_ptr<run::NewFolder> made;  // where it was not there before
  std::unique_ptr<FolderLock> lock;
  std::vector<config::Document> documents;
  std::vector<config::Override> overrides;
  int64_t num_folds = kDefaultFolds;
};

CrossValidation begin(const Arguments& arguments) {
  if (arguments.config_files.empty() && arguments.overrides.empty()) {
    throw Error(ErrorKind::kUsage,
                "cv: expected a configuration, got nothing; try trainer cv --config "
                "configs/train.yaml --folds 5");
  }
  CrossValidation cv;
  cv.overrides = arguments.overrides;
  for (const fs::path& file : arguments.config_files) {
    cv.documents.push_back(config::read_document(file));
  }
  const config::Config config = config::load(cv.documents, cv.overrides).config;
  if (config.data.folds > 0) cv.num_folds = config.data.folds;
  if (arguments.num_folds > 0) cv.num_folds = arguments.num_folds;
  const std::string tag = config.tag.empty() ? "cv" : config.tag + "_cv";
  cv.made = std::make_unique<run::NewFolder>(fs::absolute(config.output_dir),
                                             run::run_name(tag, std::time(nullptr)));
  cv.folder = cv.made->path();
  cv.lock = std::make_unique<FolderLock>(cv.folder);
  return cv;
}

config::Loaded config_of(const CrossValidation& cv, int64_t fold) {
  std::vector<config::Override> overrides = cv.overrides;
  overrides.push_back({"data.folds", std::to_string(cv.num_folds), "--folds"});
  overrides.push_back({"data.fold", std::to_string(fold), "cv"});
  overrides.push_back({"output_dir", cv.folder.string(), "cv"});
  overrides.push_back({"tag", fold_tag(fold), "cv"});
  return config::load(cv.documents, overrides);
}

// A mean over folds of several configurations would be that of none.
void refuse_changes(const CrossValidation& cv, const config::Config& before) {
  std::vector<std::string> changes;
  for (const auto& change : config::fixed_differences(before, config_of(cv, 1).config)) {
    changes.push_back(
        fmt::format("{}: {} before, {} now", change.key, change.before, change.after));
  }
  if (changes.empty()) return;
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: this is not the cross-validation that was begun:\n  {}\nundo the "
                          "changes, or start a new one without --resume",
                          cv.folder.string(), fmt::join(changes, "\n  ")));
}

// Any run of it has the configuration of all.
CrossValidation go_on(const Arguments& arguments) {
  CrossValidation cv;
  cv.folder = fs::absolute(*arguments.resume).lexically_normal();
  cv.overrides = arguments.overrides;
  const std::optional<fs::path> first = find_fold(cv.folder, 1);
  if (!first) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: expected the folder of a cross-validation, with a run folder that "
                            "ends in _fold_1, got none",
                            arguments.resume->string()));
  }
  cv.lock = std::make_unique<FolderLock>(cv.folder);
  cv.documents = {config::read_document(run::RunDir{*first}.config())};
  const config::Config before = config::load(cv.documents, {}).config;
  for (const fs::path& file : arguments.config_files) {
    cv.documents.push_back(config::read_document(file));
  }
  cv.num_folds = config::load(cv.documents, cv.overrides).config.data.folds;
  if (arguments.num_folds > 0) cv.num_folds = arguments.num_folds;
  refuse_changes(cv, before);
  return cv;
}

// Keys that a resume may change, the number of epochs say, are to hold for all folds.
bool has_config(const fs::path& run_dir, const config::Config& wanted) {
  const fs::path resolved = run::RunDir{run_dir}.config();
  if (!fs::exists(resolved)) return false;
  const config::Document document = config::read_document(resolved);
  return config::dump({config::load({document}, {}).config, {}}) == config::dump({wanted, {}});
}

/// The run of a fold, gone on with where `before` is one already.
engine::TrainReport train_fold(const CrossValidation& cv, const Arguments& arguments, int64_t fold,
                               const std::optional<fs::path>& before) {
  engine::TrainRequest request;
  request.config = config_of(cv, fold);
  if (before && fs::exists(run::RunDir{*before}.checkpoints() / "last.pt")) {
    request.resume = checkpoint::open_checkpoint(*before, checkpoint::Purpose::kContinue);
  }
  request.on_change =
      arguments.allow_changes ? engine::OnChange::kAllow : engine::OnChange::kRefuse;
  request.command_line = arguments.command_line;
  request.progress = make_progress_listener();
  // What a run says of itself is in its train.log.
  const bool is_verbose = arguments.verbosity == Verbosity::kVerbose;
  if (!is_verbose) log::set_console_level(log::Level::kWarning);
  engine::TrainReport report = engine_library().train(request);
  log::clear_status();
  if (arguments.verbosity == Verbosity::kNormal) log::set_console_level(log::Level::kInfo);
  return report;
}

std::string line_of(const metrics::FoldResult& result, int64_t num_folds) {
  std::string scores;
  for (const metrics::Score& score : result.scores) {
    scores += fmt::format("  {} {}", score.name, metrics::score_text(score));
  }
  return fmt::format("fold {}/{}{}", result.fold, num_folds, scores);
}

void write_results(const CrossValidation& cv, const std::vector<metrics::FoldResult>& results) {
  write_file_atomically(cv.folder / "cv.json",
                        metrics::to_json(results, cv.num_folds).dump(2) + "\n");
}

}  // namespace

int cv_command(const Arguments& arguments) {
  const CrossValidation cv = arguments.resume ? go_on(arguments) : begin(arguments);
  if (arguments.verbosity == Verbosity::kQuiet) log::set_console_level(log::Level::kWarning);
  std::vector<metrics::FoldResult> results;
  for (int64_t fold = 1; fold <= cv.num_folds; ++fold) {
    const auto before = find_fold(cv.folder, fold);
    const bool is_as_wanted = before && has_config(*before, config_of(cv, fold).config);
    std::optional<metrics::FoldResult> result =
        is_as_wanted ? read_fold(*before, fold) : std::nullopt;
    if (!result) {
      const engine::TrainReport report = train_fold(cv, arguments, fold, before);
      if (report.stop_signal != 0) {
        log::warning(fmt::format("stopped in fold {}; go on with: trainer cv --resume {}", fold,
                                 shell_word(cv.folder.string())));
        return 128 + report.stop_signal;
      }
      result = read_fold(report.run_dir, fold);
    }
    results.push_back(std::move(*result));
    write_results(cv, results);
    log::info(line_of(results.back(), cv.num_folds));
  }
  if (arguments.json) {
    fmt::print("{}\n", metrics::to_json(results, cv.num_folds).dump(2));
  } else {
    fmt::print("{}\nfolder  {}\n", metrics::folds_table(results), cv.folder.string());
  }
  return 0;
}

}  // namespace trainer::cli
