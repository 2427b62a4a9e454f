// SPDX-License-Identifier: Apache-2.0
#include "cli/cv_command.h"

#include <string>

#include <fmt/format.h>

#include "trainer/core/log.h"
#include "trainer/experiments/cross_validation.h"

#include "cli/engine_library.h"
#include "cli/progress_bar.h"
#include "cli/resolve_config.h"
#include "cli/shell_word.h"

namespace trainer::cli {
namespace {

std::string result_line(const metrics::FoldResult& result, const std::string& name) {
  std::string scores;
  for (const metrics::Score& score : result.scores) {
    if (!metrics::is_headline(score.name)) continue;
    scores += fmt::format("  {} {}", score.name, metrics::score_text(score));
  }
  return name + scores;
}

experiments::FoldOutcome train_fold(const Arguments& arguments, const experiments::FoldJob& job) {
  engine::TrainRequest request;
  request.config = job.config;
  request.resume = job.resume;
  request.on_change =
      arguments.allow_changes ? engine::OnChange::kAllow : engine::OnChange::kRefuse;
  request.command_line = arguments.command_line;
  request.progress = make_progress_listener();
  // The messages of each run are in its train.log.
  if (arguments.verbosity != Verbosity::kVerbose) log::set_console_level(log::Level::kWarning);
  const engine::TrainReport report = engine_library().train(request);
  log::clear_status();
  if (arguments.verbosity == Verbosity::kNormal) log::set_console_level(log::Level::kInfo);
  return {report.run_dir, report.stop_signal};
}

experiments::CrossValidationRequest make_request(const Arguments& arguments) {
  experiments::CrossValidationRequest request;
  request.config_files = arguments.config_files;
  request.overrides = arguments.overrides;
  request.resume = arguments.resume;
  request.num_folds = arguments.num_folds;
  request.num_repeats = arguments.num_repeats;
  request.train = [&](const experiments::FoldJob& job) { return train_fold(arguments, job); };
  request.on_result = [](const metrics::FoldResult& result, const std::string& name) {
    log::info(result_line(result, name));
  };
  return request;
}

}  // namespace

int cv_command(const Arguments& arguments) {
  require_config(arguments, "cv", " --folds 5");
  if (arguments.verbosity == Verbosity::kQuiet) log::set_console_level(log::Level::kWarning);
  const experiments::CrossValidationReport report =
      experiments::cross_validate(make_request(arguments));
  if (report.stop_signal != 0) {
    log::warning(fmt::format("stopped in {}; go on with: trainer cv --resume {}", report.stopped,
                             shell_word(report.folder.string())));
    return 128 + report.stop_signal;
  }
  if (arguments.json) {
    fmt::print("{}", report.json);
  } else if (arguments.verbosity != Verbosity::kQuiet) {
    fmt::print("{}\nfolder  {}\n", metrics::folds_table(report.results), report.folder.string());
  }
  return 0;
}

}  // namespace trainer::cli
