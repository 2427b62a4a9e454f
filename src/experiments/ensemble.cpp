// SPDX-License-Identifier: Apache-2.0
#include "trainer/experiments/ensemble.h"

#include <utility>

#include <fmt/format.h>

#include "trainer/apply/ensemble.h"
#include "trainer/apply/evaluate.h"
#include "trainer/apply/model.h"
#include "trainer/core/atomic_file.h"
#include "trainer/core/error.h"
#include "trainer/core/json.h"
#include "trainer/cpu/cpus.h"
#include "trainer/metrics/report_text.h"

#include "experiments/run_series.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDefaultMembers = 5;

/// A new or resumed ensemble.
struct Ensemble {
  RunSeries series;
  config::Config config;  // that the members share
  int64_t num_members = kDefaultMembers;
};

SeriesRequest series_request(const EnsembleRequest& request) {
  return {request.config_files, request.overrides, request.resume};
}

std::string member_tag(int64_t number) { return fmt::format("member_{}", number); }

// Where it is not said which rows validate, each member takes others.
bool has_folds(const config::DataConfig& data) {
  return data.validation_path.empty() && data.split_column.empty() && data.time.empty() &&
         data.validation_fraction > 0;
}

SeriesRun member_run(const Ensemble& ensemble, int64_t number) {
  const auto first_seed = static_cast<int64_t>(config::training_seed(ensemble.config));
  SeriesRun run{member_tag(number), {}};
  run.overrides = {{"training.seed", std::to_string(first_seed + number - 1), "ensemble"}};
  if (!has_folds(ensemble.config.data)) return run;
  run.overrides.insert(
      run.overrides.end(),
      {{"data.validation_folds", std::to_string(ensemble.num_members), "--members"},
       {"data.validation_fold", std::to_string(number), "ensemble"},
       {"data.fit_on", "train_and_validation", "ensemble"}});
  return run;
}

Ensemble start(const EnsembleRequest& request) {
  Ensemble ensemble{start_series(series_request(request), "ensemble"), {}};
  ensemble.config = shared_config(ensemble.series);
  if (request.num_members > 0) ensemble.num_members = request.num_members;
  return ensemble;
}

Ensemble resume(const EnsembleRequest& request) {
  const std::optional<apply::EnsembleFile> before = apply::read_ensemble(*request.resume);
  if (!before) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: expected the folder of an ensemble, which contains an "
                            "ensemble.json; found none",
                            request.resume->string()));
  }
  if (request.num_members > 0 && request.num_members != before->num_members) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--members: {} was started with {}, got {}; remove this option",
                            request.resume->string(), before->num_members, request.num_members));
  }
  Ensemble ensemble{resume_series(series_request(request), member_tag(1), "an ensemble"), {}};
  ensemble.config = shared_config(ensemble.series);
  ensemble.num_members = before->num_members;
  refuse_changes(ensemble.series, member_run(ensemble, 1), "ensemble");
  return ensemble;
}

void report_member(const EnsembleRequest& request, const std::string& name, const Json& summary) {
  if (!summary.contains("best")) return;
  const Json& best = summary["best"];
  request.on_member(
      name, fmt::format("{} {}", best.value("split", "validation"), best.value("metric", "")),
      best.value("value", 0.0));
}

}  // namespace

EnsembleReport train_ensemble(const EnsembleRequest& request) {
  const Ensemble ensemble = request.resume ? resume(request) : start(request);
  const fs::path& folder = ensemble.series.folder;
  EnsembleReport report{.folder = folder};
  run_config(ensemble.series, member_run(ensemble, ensemble.num_members));  // reports errors first
  apply::EnsembleFile file{.num_members = ensemble.num_members, .runs = {}};
  apply::write_ensemble(folder, file);
  Json members = Json::array();
  for (int64_t number = 1; number <= ensemble.num_members; ++number) {
    const std::string name = fmt::format("member {}/{}", number, ensemble.num_members);
    const SeriesRun run = member_run(ensemble, number);
    const RunOutcome outcome = complete_run(ensemble.series, run, request.train);
    if (outcome.stop_signal != 0) {
      report.stop_signal = outcome.stop_signal;
      report.stopped = name;
      return report;
    }
    file.runs.push_back(outcome.run_dir.filename().string());
    members.push_back(read_json_or_null(run::RunDir{outcome.run_dir}.summary()));
    report_member(request, name, members.back());
  }
  apply::write_ensemble(folder, file);
  const bool has_test = members.back().contains("test");
  Json summary = {{"members", std::move(members)}};
  if (has_test) {
    const int64_t threads = ensemble.config.threads;
    report.test = apply::evaluate_own_split(apply::load_model(folder),
                                            threads > 0 ? threads : cpu::usable_cpus())
                      .report;
    summary["test"] = metrics::to_json(*report.test);
  }
  report.json = summary.dump(2) + "\n";
  write_file_atomically(run::RunDir{folder}.summary(), report.json);
  run::point_latest_to({folder});
  return report;
}

}  // namespace trainer::experiments
