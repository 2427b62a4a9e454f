// SPDX-License-Identifier: Apache-2.0
#include "cli/cv_command.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/apply/out_of_fold.h"
#include "trainer/checkpoint/resume_point.h"
#include "trainer/config/dump.h"
#include "trainer/core/atomic_file.h"
#include "trainer/core/error.h"
#include "trainer/core/folder_lock.h"
#include "trainer/core/log.h"
#include "trainer/core/text.h"
#include "trainer/cpu/cpus.h"
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
  int64_t num_repeats = 1;
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
  cv.num_repeats = std::max<int64_t>(1, arguments.num_repeats);
  const std::string tag = config.tag.empty() ? "cv" : config.tag + "_cv";
  cv.made = std::make_unique<run::NewFolder>(fs::absolute(config.output_dir),
                                             run::run_name(tag, std::time(nullptr)));
  cv.folder = cv.made->path();
  cv.lock = std::make_unique<FolderLock>(cv.folder);
  return cv;
}

config::Loaded config_of(const CrossValidation& cv, const FoldPlace& place) {
  std::vector<config::Override> overrides = cv.overrides;
  overrides.push_back({"data.folds", std::to_string(cv.num_folds), "--folds"});
  overrides.push_back({"data.fold", std::to_string(place.fold), "cv"});
  if (place.num_repeats > 1) {
    overrides.push_back({"data.repeat", std::to_string(place.repeat), "--repeats"});
  }
  overrides.push_back({"output_dir", cv.folder.string(), "cv"});
  overrides.push_back({"tag", fold_tag(place), "cv"});
  return config::load(cv.documents, overrides);
}

// A mean over folds of several configurations would be that of none.
void refuse_changes(const CrossValidation& cv, const config::Config& before) {
  std::vector<std::string> changes;
  for (const auto& change :
       config::fixed_differences(before, config_of(cv, {1, 1, cv.num_repeats}).config)) {
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
  cv.num_repeats = find_repeats(cv.folder);
  if (arguments.num_repeats > 0 && arguments.num_repeats != cv.num_repeats) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--repeats: {} was begun with {}, got {}; leave it out",
                            arguments.resume->string(), cv.num_repeats, arguments.num_repeats));
  }
  const std::optional<fs::path> first = find_fold(cv.folder, {1, 1, cv.num_repeats});
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
engine::TrainReport train_fold(const CrossValidation& cv, const Arguments& arguments,
                               const FoldPlace& place, const std::optional<fs::path>& before) {
  engine::TrainRequest request;
  request.config = config_of(cv, place);
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

std::string name_of(const FoldPlace& place, int64_t num_folds) {
  std::string name = fmt::format("fold {}/{}", place.fold, num_folds);
  if (place.num_repeats > 1) {
    name += fmt::format(" of repeat {}/{}", place.repeat, place.num_repeats);
  }
  return name;
}

std::string line_of(const metrics::FoldResult& result, const std::string& name) {
  std::string scores;
  for (const metrics::Score& score : result.scores) {
    if (!metrics::is_headline(score.name)) continue;
    scores += fmt::format("  {} {}", score.name, metrics::score_text(score));
  }
  return name + scores;
}

metrics::FoldCounts counts_of(const CrossValidation& cv) { return {cv.num_folds, cv.num_repeats}; }

void write_results(const CrossValidation& cv, const std::vector<metrics::FoldResult>& results) {
  write_file_atomically(cv.folder / "cv.json",
                        metrics::to_json(results, counts_of(cv)).dump(2) + "\n");
}

// The scores hold without it.
void write_predictions(const CrossValidation& cv, const std::vector<apply::FoldRun>& runs) {
  try {
    const int64_t threads = config_of(cv, {1, 1, cv.num_repeats}).config.threads;
    apply::write_out_of_fold(runs, cv.folder / "out_of_fold.csv",
                             threads > 0 ? threads : cpu::usable_cpus());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kData) throw;
    log::warning(fmt::format("out_of_fold.csv was not written: {}", error.what()));
  }
}

/// The places of all runs, one repeat after the other.
std::vector<FoldPlace> places_of(const CrossValidation& cv) {
  std::vector<FoldPlace> places;
  for (int64_t repeat = 1; repeat <= cv.num_repeats; ++repeat) {
    for (int64_t fold = 1; fold <= cv.num_folds; ++fold) {
      places.push_back({fold, repeat, cv.num_repeats});
    }
  }
  return places;
}

}  // namespace

int cv_command(const Arguments& arguments) {
  const CrossValidation cv = arguments.resume ? go_on(arguments) : begin(arguments);
  if (arguments.verbosity == Verbosity::kQuiet) log::set_console_level(log::Level::kWarning);
  std::vector<metrics::FoldResult> results;
  std::vector<apply::FoldRun> runs;
  const std::vector<FoldPlace> places = places_of(cv);
  config_of(cv, places.back());  // what cannot be is said before anything is trained
  for (const FoldPlace& place : places) {
    const std::string name = name_of(place, cv.num_folds);
    const auto before = find_fold(cv.folder, place);
    const bool is_as_wanted = before && has_config(*before, config_of(cv, place).config);
    std::optional<metrics::FoldResult> result =
        is_as_wanted ? read_fold(*before, place) : std::nullopt;
    if (!result) {
      const engine::TrainReport report = train_fold(cv, arguments, place, before);
      if (report.stop_signal != 0) {
        log::warning(fmt::format("stopped in {}; go on with: trainer cv --resume {}", name,
                                 shell_word(cv.folder.string())));
        return 128 + report.stop_signal;
      }
      result = read_fold(report.run_dir, place);
    }
    results.push_back(std::move(*result));
    runs.push_back({cv.folder / results.back().run, place.fold, place.repeat});
    write_results(cv, results);
    log::info(line_of(results.back(), name));
  }
  write_predictions(cv, runs);
  if (arguments.json) {
    fmt::print("{}\n", metrics::to_json(results, counts_of(cv)).dump(2));
  } else if (arguments.verbosity != Verbosity::kQuiet) {
    fmt::print("{}\nfolder  {}\n", metrics::folds_table(results), cv.folder.string());
  }
  return 0;
}

}  // namespace trainer::cli
