// SPDX-License-Identifier: Apache-2.0
#include "cli/train_runs.h"

#include <sstream>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/config/logging_config.h"

#include "cli/libraries.h"
#include "cli/progress_bar.h"
#include "cli/resolve_config.h"
#include "cli/typed_line.h"

namespace trainer::cli {
namespace {

experiments::RunOutcome train_one_of_several(const CommonOptions& common,
                                             const experiments::RunJob& job,
                                             const OtherRuns& others) {
  engine::TrainRequest request;
  request.config = job.config;
  request.resume = job.resume;
  request.on_change = common.allow_changes ? engine::OnChange::kAllow : engine::OnChange::kRefuse;
  request.command_line = common.command_line;
  request.is_alone = job.place.size > 1;
  const bool is_quiet = job.place.rank > 0;  // only rank 0 shows messages and progress
  if (!is_quiet) request.progress = make_progress_listener(others);
  const auto show = [&](log::Level level) {
    if (!is_quiet) log::set_console_level(level);
  };
  if (common.verbosity != Verbosity::kVerbose) show(log::Level::kWarning);
  log::set_console_format(config::console_format(job.config.config.logging.format));
  const engine::TrainReport report = engine_library().train(request);
  log::close_file();
  log::clear_status();
  if (common.verbosity == Verbosity::kNormal) show(log::Level::kInfo);
  return {report.run_dir, report.stop_signal};
}

// Returns a function for the runs of one series, one after the other.
experiments::TrainFunction series_trainer(const CommonOptions& common) {
  // The number of runs that this process has completed, and their seconds.
  return [&common, num_complete = 0, seconds = 0.0](const experiments::RunJob& job) mutable {
    const Stopwatch stopwatch;
    const OtherRuns others{.name = job.name,
                           .num_left = job.num_left,
                           .num_trained_at_once = job.place.size,
                           .mean_seconds = num_complete > 0 ? seconds / num_complete : 0};
    const experiments::RunOutcome outcome = train_one_of_several(common, job, others);
    ++num_complete;
    seconds += stopwatch.seconds();
    return outcome;
  };
}

// Returns the scores that fit into a line; the table at the end has all of them.
std::string result_line(const metrics::FoldResult& result, const std::string& name) {
  constexpr std::size_t kWidth = 79;
  std::string line = name;
  for (const metrics::Score& score : result.scores) {
    if (!metrics::is_headline(score.name)) continue;
    const std::string next = fmt::format("  {} {}", score.name, metrics::score_text(score));
    if (line.size() + next.size() > kWidth) break;
    line += next;
  }
  return line;
}

}  // namespace

nlohmann::ordered_json with_folder(const std::filesystem::path& folder, const std::string& json) {
  Json result = {{"folder", folder.string()}};
  result.update(parse_json(json));
  return result;
}

experiments::SeriesRequest series_request(const CommonOptions& common) {
  experiments::SeriesRequest request;
  request.config_files = common.config_files;
  request.overrides = common.overrides;
  request.resumes_same = common.resume == kResumeAuto;
  if (!request.resumes_same) request.resume = common.resume;
  request.train = series_trainer(common);
  request.prepare = [] { engine_library(); };
  request.environment = launch::process_environment;
  return request;
}

experiments::EnsembleRequest ensemble_request(const CommonOptions& common) {
  experiments::EnsembleRequest request{series_request(common)};
  request.on_member = [](const std::string& name, const std::string& metric, double value) {
    log::event("member", fmt::format("{}  {} {}", name, metric, metrics::loss_text(value)),
               {{"member", name}, {"metric", metric}, {"value", value}});
  };
  return request;
}

namespace {

// What one line says about a trial that is over.
std::string trial_line(const experiments::Trial& trial, double ensemble_loss) {
  return fmt::format("trial {}  {}  ensemble {:.4f}  {}", trial.number,
                     trial.loss ? fmt::format("{:.4f}", *trial.loss) : trial.problem, ensemble_loss,
                     human_duration(trial.time_seconds));
}

}  // namespace

experiments::SearchRequest search_request(const CommonOptions& common,
                                          const experiments::SearchLimits& limits) {
  experiments::SearchRequest request{series_request(common)};
  request.limits = limits;
  request.on_trial = [since_line = Stopwatch()](const experiments::Trial& trial,
                                                double ensemble_loss, double left) mutable {
    constexpr double kQuietSeconds = 30;  // without a line about a trial that changes nothing
    const bool is_news = trial.weight > 0 || (!trial.loss && trial.runs.size() != 1);
    if (!is_news && since_line.seconds() < kQuietSeconds) return;
    since_line.restart();
    log::info(trial_line(trial, ensemble_loss) +
              (left > 0 ? fmt::format("  {} left", human_duration(left)) : ""));
  };
  return request;
}

std::string shown_split(const apply::EvaluationResult& result) {
  return result.split == apply::kOutOfFold ? "out of fold" : "ensemble (test)";
}

void parse_recipes(const std::string& names, std::vector<config::Recipe>& recipes,
                   Problems& problems) {
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) {
    const auto recipe = config::from_text<config::Recipe>(name);
    if (!recipe) {
      problems.push_back(fmt::format("--recipes: expected names of {}, separated by commas; got {}",
                                     joined(config::enum_names<config::Recipe>(), " or "),
                                     in_quotes(name)));
      return;
    }
    recipes.push_back(*recipe);
  }
}

int end_stopped(const experiments::SeriesReport& report, std::string_view command) {
  log::event("stopped",
             fmt::format("stopped in {}; resume with: trainer {} --resume {}", report.stopped,
                         command, shell_word(report.folder.string())),
             {{"folder", report.folder.string()}}, log::Level::kWarning);
  return 128 + report.stop_signal;
}

void show_fold(const metrics::FoldResult& result, const std::string& name) {
  Json fields = {{"run", result.run}, {"fold", result.fold}, {"repeat", result.repeat}};
  for (const metrics::Score& score : result.scores) fields[score.name] = score.value;
  log::event("fold", result_line(result, name), fields);
}

std::string short_path(const std::filesystem::path& path) {
  const std::filesystem::path relative = path.lexically_proximate(std::filesystem::current_path());
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return (inside ? relative : path).string();
}

}  // namespace trainer::cli
