// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/experiments/ensemble.h"

#include <utility>

#include <fmt/format.h>

#include "trainer/apply/ensemble.h"
#include "trainer/apply/model.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/json.h"
#include "trainer/metrics/report.h"

#include "workflows/experiments/complete_runs.h"
#include "workflows/experiments/fold_runs.h"
#include "workflows/experiments/member_recipes.h"
#include "workflows/experiments/run_series.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDefaultMembers = 5;

/// An ensemble that was started or resumed.
struct Ensemble {
  RunSeries series;
  config::Config config = {};  // that of the first recipe
  apply::EnsembleFile file = {};
};

std::string member_tag(int64_t number) { return fmt::format("member_{}", number); }

SeriesRun member_run(const Ensemble& ensemble, int64_t number) {
  const auto first_seed = static_cast<int64_t>(config::training_seed(ensemble.config));
  SeriesRun run{.tag = member_tag(number),
                .name = fmt::format("member {}/{}", number, ensemble.file.num_members)};
  run.overrides = {{"training.seed", std::to_string(first_seed + number - 1), "ensemble"}};
  const std::vector<config::Recipe>& recipes = ensemble.file.recipes;
  if (!recipes.empty()) {
    add_recipe(ensemble.series, ensemble.config,
               recipes[static_cast<std::size_t>(number - 1) % recipes.size()], run.overrides);
  }
  if (!has_validation_folds(ensemble.config.data)) return run;
  const auto fold = validation_fold(number, ensemble.file.num_members, "--members");
  run.overrides.insert(run.overrides.end(), fold.begin(), fold.end());
  return run;
}

void use_first_recipe(Ensemble& ensemble) {
  if (!ensemble.file.recipes.empty()) {
    ensemble.series.overrides.push_back(recipe_override(ensemble.file.recipes.front()));
  }
  ensemble.config = shared_config(ensemble.series);
}

// The number of members of a new ensemble.
int64_t members_of(const EnsembleRequest& request, const RunSeries& series) {
  if (request.num_members > 0) return request.num_members;
  const int64_t configured = shared_config(series).members;
  return configured > 1 ? configured : kDefaultMembers;
}

Ensemble start(const EnsembleRequest& request) {
  Ensemble ensemble{new_series(request)};
  const int64_t num_members = members_of(request, ensemble.series);
  const std::vector<config::Recipe> recipes =
      request.recipes.empty() ? member_recipes(shared_config(ensemble.series)) : request.recipes;
  if (std::ssize(request.recipes) > num_members) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--recipes: expected at most one for each of {} members, got {}",
                            num_members, request.recipes.size()));
  }
  ensemble.file = {.num_members = num_members, .runs = {}, .recipes = recipes};
  if (!recipes.empty()) ensemble.file.settings = settings_of(ensemble.series);
  use_first_recipe(ensemble);
  const auto is_same = [&] {
    const std::optional<apply::EnsembleFile> before = apply::read_ensemble(ensemble.series.folder);
    return before && before->num_members == num_members && before->recipes == recipes &&
           has_same_runs(ensemble.series, member_run(ensemble, 1));
  };
  open_series(request, "ensemble", is_same, ensemble.series);
  return ensemble;
}

Ensemble resume(const EnsembleRequest& request) {
  std::optional<apply::EnsembleFile> before = apply::read_ensemble(*request.resume);
  if (!before) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: expected the folder of an ensemble, which contains an "
                            "ensemble.json; found none",
                            request.resume->string()));
  }
  if (request.num_members > 0 && request.num_members != before->num_members) {
    refuse_option(request, "--members", std::to_string(before->num_members),
                  std::to_string(request.num_members));
  }
  if (!request.recipes.empty() && request.recipes != before->recipes) {
    refuse_option(request, "--recipes", names_of(before->recipes), names_of(request.recipes));
  }
  Ensemble ensemble{read_series(request, member_tag(1), "an ensemble")};
  if (!before->recipes.empty()) {
    use_settings(before->settings, apply::ensemble_file(ensemble.series.folder).string(),
                 request.overrides, ensemble.series);
  }
  before->runs.clear();
  ensemble.file = std::move(*before);
  use_first_recipe(ensemble);
  refuse_changes(ensemble.series, member_run(ensemble, 1), "ensemble");
  resume_series(request, ensemble.series);
  return ensemble;
}

void report_member(const EnsembleRequest& request, const std::string& name,
                   const JsonReader& summary) {
  if (!summary.has("best")) return;
  const JsonReader best = summary["best"];
  request.on_member(name, fmt::format("{} {}", best.text("split"), best.text("metric")),
                    best.number("value").value_or(0));
}

std::vector<SeriesRun> member_runs(const Ensemble& ensemble) {
  std::vector<SeriesRun> runs;
  runs.reserve(static_cast<std::size_t>(ensemble.file.num_members));
  for (int64_t number = 1; number <= ensemble.file.num_members; ++number) {
    runs.push_back(member_run(ensemble, number));
    run_config(ensemble.series, runs.back());  // reports errors before anything is trained
  }
  return runs;
}

// Writes the files of a complete ensemble: the list of its members, and the metrics of each member
// and of all together.
void write_summary(const Ensemble& ensemble, Json members, EnsembleReport& report) {
  const fs::path& folder = ensemble.series.folder;
  apply::write_ensemble(folder, ensemble.file);
  const bool has_test = members.back().contains("test");
  Json summary = {{"members", std::move(members)}};
  const bool has_out_of_fold = has_validation_folds(ensemble.config.data) &&
                               summary["members"].back().contains("validation");
  if (has_test || has_out_of_fold) {
    report.result =
        apply::evaluate_own_split(apply::load_model(folder), num_threads(ensemble.config));
    summary[report.result->split] = metrics::to_json(report.result->report);
  }
  if (has_test) report.member_means = apply::member_means(JsonReader(summary), "test");
  report.json = summary.dump(2) + "\n";
  write_file_atomically(run::RunDir{folder}.summary(), report.json);
  run::point_latest_to({folder});
}

}  // namespace

EnsembleReport train_ensemble(const EnsembleRequest& request) {
  Ensemble ensemble = request.resume ? resume(request) : start(request);
  EnsembleReport report;
  report.folder = ensemble.series.folder;
  report.num_members = ensemble.file.num_members;
  report.is_collected = ensemble.series.place.rank == 0;
  const std::vector<SeriesRun> runs = member_runs(ensemble);
  if (report.is_collected) apply::write_ensemble(report.folder, ensemble.file);
  Json members = Json::array();
  const auto add = [&](std::size_t i, const fs::path& run_dir) {
    ensemble.file.runs.push_back(run_dir.filename().string());
    const JsonReader summary = JsonReader::of_file(run::RunDir{run_dir}.summary());
    members.push_back(summary.json());
    report_member(request, runs[i].name, summary);
  };
  const SeriesEnd end = complete_runs(ensemble.series, runs, request.train, add);
  report.stop_signal = end.stop_signal;
  report.stopped = end.stopped;
  if (end.stop_signal == 0 && report.is_collected) {
    write_summary(ensemble, std::move(members), report);
  }
  return report;
}

}  // namespace trainer::experiments
