// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/search_plan.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/text/json.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

// A trial that failed leaves this file, so that no process tries it again.
fs::path problem_file(const SearchPlan& plan, int64_t trial) {
  return plan.search.series.folder / fmt::format("trial_{}_problem.txt", trial);
}

// The first trials are always completed: later ones are compared with them, and each recipe gets a
// trial with its defaults.
bool is_complete_anyway(const SearchPlan& plan, int64_t trial) {
  constexpr int64_t kFewest = 3;
  return trial <= std::max(kFewest, static_cast<int64_t>(std::ssize(plan.search.recipes)));
}

/// Whether the first fold of a trial is at least as good as that of half of those before it;
/// nothing until all of these are known.
std::optional<bool> is_promising(const SearchPlan& plan, const KnownTrial& known) {
  if (is_complete_anyway(plan, known.trial.number)) return true;
  if (!known.trial.first_loss) return std::nullopt;
  std::vector<double> before;
  for (const KnownTrial& other : plan.known) {
    if (other.trial.number == known.trial.number) break;
    if (!other.trial.first_loss && other.trial.problem.empty()) return std::nullopt;
    if (other.trial.first_loss) before.push_back(*other.trial.first_loss);
  }
  if (before.empty()) return true;
  const auto middle = before.begin() + static_cast<std::ptrdiff_t>(before.size() / 2);
  std::nth_element(before.begin(), middle, before.end());
  return *known.trial.first_loss <= *middle;
}

/// Reads what the complete runs of a trial found.
void look_at(const SearchPlan& plan, const CompleteRuns& complete, KnownTrial& known) {
  constexpr double kShortest = 1e-3;  // seconds, more than those of an incomplete one
  for (std::size_t i = 0; i < known.folds.size(); ++i) {
    const auto found = complete.find(known.folds[i].tag);
    if (known.seconds[i] > 0 || found == complete.end()) continue;
    const JsonReader summary = JsonReader::of_file(run::RunDir{found->second}.summary());
    known.seconds[i] = std::max(summary.number("time_seconds").value_or(0), kShortest);
    if (i > 0 || summary.is_null()) continue;
    const JsonReader scores = summary["validation"];
    const double loss =
        scores.number(scores.has("log_loss") ? "log_loss" : "rmse").value_or(HUGE_VAL);
    known.trial.first_loss = std::isfinite(loss) ? loss : HUGE_VAL;
  }
  known.trial.problem = read_text(problem_file(plan, known.trial.number)).value_or("");
  if (!known.is_promising) known.is_promising = is_promising(plan, known);
}

KnownTrial make_known(const SearchSeries& search, int64_t number) {
  KnownTrial known{make_trial(search, number)};
  for (int64_t fold = 1; fold <= search.num_folds; ++fold) {
    known.folds.push_back(fold_run(search, known.trial, fold));
  }
  known.seconds.resize(known.folds.size());
  return known;
}

// The trial whose run has this name.
const KnownTrial& trial_of(const SearchPlan& plan, const std::string& run_name) {
  return *std::find_if(plan.known.begin(), plan.known.end(), [&](const KnownTrial& known) {
    return run_name.starts_with(fmt::format("trial {} ", known.trial.number));
  });
}

// The seconds that a fold has taken on average.
double mean_seconds(const SearchPlan& plan) {
  double sum = 0;
  int64_t count = 0;
  for (const KnownTrial& known : plan.known) {
    for (const double seconds : known.seconds) {
      sum += seconds;
      count += seconds > 0 ? 1 : 0;
    }
  }
  return sum / static_cast<double>(std::max<int64_t>(count, 1));
}

}  // namespace

double seconds_used(const SearchPlan& plan) {
  return plan.search.seconds_before + plan.stopwatch.seconds();
}

bool is_over(const KnownTrial& known) {
  if (!known.trial.problem.empty()) return true;
  if (!known.is_promising) return false;
  return !*known.is_promising ||
         std::all_of(known.seconds.begin(), known.seconds.end(), [](double s) { return s > 0; });
}

std::vector<SeriesRun> next_runs(const CompleteRuns& complete, SearchPlan& plan) {
  std::vector<SeriesRun> runs;
  const int64_t num_processes = plan.search.series.place.size;
  const int64_t max_trials = plan.search.limits.trials;
  const int64_t limit = max_trials > 0 ? max_trials : INT64_MAX;
  for (int64_t number = 1; number <= limit && std::ssize(runs) <= num_processes; ++number) {
    const auto index = static_cast<std::size_t>(number - 1);
    if (index == plan.known.size()) plan.known.push_back(make_known(plan.search, number));
    KnownTrial& known = plan.known[index];
    if (is_over(known)) continue;
    look_at(plan, complete, known);
    if (is_over(known)) continue;
    const std::size_t num_wanted = known.is_promising ? known.folds.size() : 1;
    for (std::size_t i = 0; i < num_wanted; ++i) {
      if (known.seconds[i] == 0) runs.push_back(known.folds[i]);
    }
  }
  return runs;
}

bool has_time(const SearchPlan& plan, const SeriesRun& run) {
  const KnownTrial& known = trial_of(plan, run.name);
  if (fs::exists(problem_file(plan, known.trial.number))) return false;
  if (plan.search.limits.seconds <= 0 || known.trial.number == 1) return true;
  double seconds = known.seconds.front();
  if (seconds == 0) {
    const int64_t size = plan.search.series.place.size;
    const int64_t num_rounds = (plan.search.num_folds + size - 1) / size;
    seconds = mean_seconds(plan) * static_cast<double>(num_rounds);
  }
  return seconds_used(plan) + seconds <= plan.search.limits.seconds;
}

RunOutcome train_fold(const SearchPlan& plan, const TrainFunction& train, const RunJob& job) {
  try {
    return train(job);
  } catch (const Error& error) {
    const bool is_of_trial =
        error.kind() == ErrorKind::kNonFinite || error.kind() == ErrorKind::kOutOfMemory;
    const int64_t number = trial_of(plan, job.name).trial.number;
    if (number == 1 || !is_of_trial) throw;
    write_file_atomically(problem_file(plan, number), error.what());
    return {plan.search.series.folder, 0};
  }
}

}  // namespace trainer::experiments
