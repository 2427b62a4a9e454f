// SPDX-License-Identifier: Apache-2.0
// A search is a series of ensembles in one folder, whose runs are named trial_2_fold_1 and so on.
// What was decided is a function of the runs that are complete: the settings of a trial by its
// number, whether it goes on after its first fold by the scores of those before it, the weights by
// the out-of-fold predictions. So any number of processes find the same trials, each by itself, and
// a search that was killed finds its way by its run folders alone; search.json says what was found,
// and with which space.
#include "trainer/workflows/experiments/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/ensemble.h"
#include "trainer/apply/evaluate.h"
#include "trainer/apply/model.h"
#include "trainer/apply/out_of_fold.h"
#include "trainer/apply/predictor.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/metrics/report.h"
#include "trainer/run/checkpoint/store.h"
#include "trainer/run/folder/run_dir.h"

#include "workflows/experiments/complete_runs.h"
#include "workflows/experiments/member_weights.h"
#include "workflows/experiments/run_series.h"
#include "workflows/experiments/search_importance.h"
#include "workflows/experiments/search_plan.h"
#include "workflows/experiments/search_series.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

/// What rank 0 makes of the trials that are over.
struct SearchResults {
  const SearchPlan& plan;
  std::vector<Trial> trials = {};
  std::vector<std::size_t> candidates = {};  // of the pool, as indices of trials
  CandidatePool pool = {};
  ChosenWeights chosen = {};
  int64_t num_before = 0;  // trials that search.json has when a search is resumed
};

// The fold of each row; of the rows of one validation split, parts that stand for folds.
std::vector<int32_t> folds_of_rows(const std::vector<int64_t>& sizes) {
  std::vector<int32_t> folds;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (int64_t row = 0; row < sizes[i]; ++row) {
      const auto part = static_cast<int32_t>(row * kDefaultFolds / sizes[i]);
      folds.push_back(sizes.size() == 1 ? part : static_cast<int32_t>(i));
    }
  }
  return folds;
}

/// Appends the predictions of a trial for the rows of all folds to the pool.
void add_candidate(const Trial& trial, SearchResults& results) {
  std::vector<fs::path> runs;
  runs.reserve(trial.runs.size());
  for (const std::string& run : trial.runs) runs.push_back(results.plan.search.series.folder / run);
  const apply::FoldOutputs folds =
      apply::predict_folds(runs, num_threads(results.plan.search.config));
  const data::Dataset& rows = folds.all.rows;
  CandidatePool& pool = results.pool;
  pool.has_classes = folds.all.schema.task == config::Task::kClassification;
  std::vector<double> truth(rows.values.begin(), rows.values.end());
  std::vector<float> found = folds.all.outputs;
  if (pool.has_classes) {
    const std::vector<float> all = apply::probabilities(folds.first, folds.all.outputs);
    const std::size_t width = folds.all.schema.labels.size();
    truth.assign(rows.classes.begin(), rows.classes.end());
    found.resize(truth.size());
    for (std::size_t row = 0; row < found.size(); ++row) {
      found[row] = all[row * width + static_cast<std::size_t>(rows.classes[row])];
    }
  } else {
    pool.num_columns = folds.all.schema.num_targets();
  }
  if (pool.values.empty()) pool.values = truth;
  if (truth.empty()) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: the run has no validation rows, by which a search chooses",
                            runs.front().string()));
  }
  if (truth != pool.values) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{}: expected the rows of the first trial, got others; the data may "
                            "have changed",
                            runs.front().string()));
  }
  if (pool.folds.empty()) pool.folds = folds_of_rows(folds.sizes);
  pool.predictions.push_back(std::move(found));
  results.candidates.push_back(results.trials.size() - 1);
}

Json trial_json(const Trial& trial) {
  Json json = {{"trial", trial.number},
               {"recipe", config::to_text(trial.recipe)},
               {"settings", Json::object()},
               {"runs", trial.runs}};
  for (const config::Override& one : trial.settings) json["settings"][one.key] = one.value;
  json["loss"] = trial.loss ? Json(*trial.loss) : Json();
  json["weight"] = trial.weight;
  json["time_seconds"] = trial.time_seconds;
  if (!trial.problem.empty()) json["problem"] = trial.problem;
  return json;
}

Json importance_json(const std::vector<KeyImportance>& importance) {
  Json json = Json::array();
  for (const KeyImportance& one : importance) {
    json.push_back(
        {{"recipe", config::to_text(one.recipe)}, {"key", one.key}, {"share", one.share}});
  }
  return json;
}

Json search_json(const SearchPlan& plan) {
  Json json = search_json(plan.search);
  json["time_seconds"] = seconds_used(plan);
  return json;
}

/// Writes the ensemble, in one step, and then what is known of all trials.
void write_results(const SearchResults& results) {
  const fs::path& folder = results.plan.search.series.folder;
  apply::EnsembleFile ensemble;
  for (const Trial& trial : results.trials) {
    if (trial.weight == 0) continue;
    for (const std::string& run : trial.runs) {
      ensemble.runs.push_back(run);
      ensemble.weights.push_back(trial.weight / static_cast<double>(trial.runs.size()));
    }
  }
  ensemble.num_members = std::ssize(ensemble.runs);
  if (ensemble.num_members > 0) apply::write_ensemble(folder, ensemble);
  Json json = search_json(results.plan);
  json["trials"] = Json::array();
  for (const Trial& trial : results.trials) json["trials"].push_back(trial_json(trial));
  json["importance"] = importance_json(key_importance(results.plan.search.ranges, results.trials));
  write_file_atomically(folder / kSearchFile, json.dump(2) + "\n");
}

/// Adds the last trial to the ensemble, and chooses the weights of all again.
void weigh(SearchResults& results) {
  add_candidate(results.trials.back(), results);
  std::vector<double> alone(results.candidates.size());
  alone.back() = 1;
  results.trials.back().loss = pool_loss(results.pool, alone);
  const int64_t num_folds = results.plan.search.num_folds;
  const int64_t max_members = results.plan.search.limits.members;
  results.chosen =
      max_members > 0 ? choose_few_weights(
                            results.pool, std::max<std::size_t>(
                                              1, static_cast<std::size_t>(max_members / num_folds)))
                      : choose_weights(results.pool);
  for (Trial& trial : results.trials) trial.weight = 0;
  for (std::size_t i = 0; i < results.candidates.size(); ++i) {
    results.trials[results.candidates[i]].weight = results.chosen.weights[i];
  }
}

/// Removes what no model of this search needs: of the runs of a trial all but the best epoch, and
/// of those of one that ended early everything that was saved. A search would fill the disk with
/// it.
void remove_checkpoints(const fs::path& folder, const Trial& trial) {
  for (const std::string& run : trial.runs) {
    const fs::path checkpoints = run::RunDir{folder / run}.checkpoints();
    for (const fs::path& file : checkpoint::newest_first(checkpoints)) {
      const bool is_needed = trial.loss && file.filename() == "best.pt";
      std::error_code ignored;
      if (!is_needed) fs::remove(file, ignored);
    }
  }
}

/// Adds a trial that is over, or for which no time is left.
void conclude(const SearchRequest& request, const CompleteRuns& complete, const KnownTrial& known,
              SearchResults& results) {
  Trial trial = known.trial;
  for (std::size_t i = 0; i < known.folds.size(); ++i) {
    if (known.seconds[i] == 0) continue;
    trial.runs.push_back(complete.at(known.folds[i].tag).filename().string());
    trial.time_seconds += known.seconds[i];
  }
  const bool is_complete = trial.runs.size() == known.folds.size() && trial.problem.empty();
  if (!is_complete && trial.problem.empty()) {
    trial.problem = known.is_promising.value_or(true) ? "no time for its other folds"
                                                      : "worse than most on its first fold";
  }
  results.trials.push_back(std::move(trial));
  if (is_complete) weigh(results);
  // While a resumed search finds its trials again, its files say more than it knows.
  if (std::ssize(results.trials) >= results.num_before) write_results(results);
  if (is_over(known)) remove_checkpoints(results.plan.search.series.folder, results.trials.back());
  const double left = results.plan.search.limits.seconds - seconds_used(results.plan);
  request.on_trial(results.trials.back(), results.chosen.loss, std::max(left, 0.0));
  if (results.trials.size() == 1) run::point_latest_to({results.plan.search.series.folder});
}

/// Concludes the trials that are over, in the order of their numbers.
void conclude_next(const SearchRequest& request, const CompleteRuns& complete, SearchPlan& plan,
                   SearchResults& results) {
  next_runs(complete, plan);
  for (std::size_t i = results.trials.size(); i < plan.known.size(); ++i) {
    if (!is_over(plan.known[i])) return;
    conclude(request, complete, plan.known[i], results);
  }
}

/// Concludes the trials that have begun, when there is no time for the rest of them.
void conclude_rest(const SearchRequest& request, const CompleteRuns& complete,
                   const SearchPlan& plan, SearchResults& results) {
  for (std::size_t i = results.trials.size(); i < plan.known.size(); ++i) {
    if (plan.known[i].seconds.front() > 0) {
      conclude(request, complete, plan.known[i], results);
    }
  }
}

SearchReport report_of(const SearchResults& results) {
  SearchReport report;
  report.folder = results.plan.search.series.folder;
  report.metric = results.pool.has_classes ? "log loss" : "RMSE";
  report.trials = results.trials;
  report.importance = key_importance(results.plan.search.ranges, results.trials);
  report.ensemble_loss = results.chosen.loss;
  report.expected_loss = results.chosen.expected_loss;
  for (const Trial& trial : results.trials) {
    if (trial.weight > 0) report.num_members += std::ssize(trial.runs);
  }
  return report;
}

// Writes the limits and the time to search.json, or all of it if there is no such file yet. Returns
// the number of trials that it has.
int64_t note_limits(const SearchResults& results) {
  const fs::path file = results.plan.search.series.folder / kSearchFile;
  const JsonReader before = JsonReader::of_file(file);
  if (before.is_null()) {
    write_results(results);
    return 0;
  }
  Json json = before.json();
  json.update(search_json(results.plan));
  write_file_atomically(file, json.dump(2) + "\n");
  return std::ssize(before["trials"].elements());
}

void tell_of_limits(const SearchResults& results) {
  if (results.num_before == 0 || std::ssize(results.trials) > results.num_before) return;
  const double seconds = results.plan.search.limits.seconds;
  log::info(seconds > 0 ? fmt::format("no trial was added: {} are for all starts of the search "
                                      "together; set a longer --time, or --trials",
                                      human_duration(seconds))
                        : "no trial was added: set more --trials, or a --time");
}

}  // namespace

SearchReport search(const SearchRequest& request) {
  SearchSeries search = open_search(request);
  const bool is_first = search.series.place.rank == 0;
  SearchPlan trials{search};
  SearchResults results{trials};
  if (is_first) results.num_before = note_limits(results);
  CompleteRuns all;
  const RunPlan plan{
      .runs = [&](const CompleteRuns& complete) { return next_runs(complete, trials); },
      .grows = true,
      .may_begin = [&](const SeriesRun& run) { return has_time(trials, run); },
      .on_progress =
          [&](const CompleteRuns& complete) {
            all = complete;
            conclude_next(request, complete, trials, results);
          }};
  const auto train = [&](const RunJob& job) { return train_fold(trials, request.train, job); };
  const SeriesEnd end = complete_plan(search.series, plan, train);
  const bool is_complete = end.stop_signal == 0 && is_first;
  if (is_complete) {
    conclude_rest(request, all, trials, results);
    tell_of_limits(results);
  }
  if (is_first) note_limits(results);
  SearchReport report = report_of(results);
  report.is_collected = is_first;
  report.stop_signal = end.stop_signal;
  report.stopped = end.stopped;
  if (is_complete) {
    report.result =
        apply::evaluate_own_split(apply::load_model(report.folder), num_threads(search.config));
  }
  return report;
}

namespace {

// The name of a key without its section.
std::string short_name(const std::string& key) { return key.substr(key.rfind('.') + 1); }

std::string settings_text(const Trial& trial) {
  if (trial.settings.empty()) return "as it is";
  std::string text;
  for (const config::Override& one : trial.settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", short_name(one.key), one.value);
  }
  return text;
}

// "learning_rate 41 %, dropout 3 %", with the recipe before it if there are several.
std::string importance_text(const std::vector<KeyImportance>& importance) {
  std::string text;
  for (std::size_t i = 0; i < importance.size(); ++i) {
    const KeyImportance& one = importance[i];
    const bool is_first = i == 0 || importance[i - 1].recipe != one.recipe;
    if (i > 0) text += is_first ? "; " : ", ";
    if (is_first && importance.front().recipe != importance.back().recipe) {
      text += config::to_text(one.recipe) + ": ";
    }
    text += fmt::format("{} {:.0f} %", short_name(one.key), 100 * one.share);
  }
  return text;
}

std::string weight_text(const Trial& trial) {
  return trial.weight > 0 ? fmt::format("{:.0f} %", 100 * trial.weight) : "";
}

}  // namespace

Document SearchReport::document() const {
  std::vector<const Trial*> order;
  order.reserve(trials.size());
  for (const Trial& trial : trials) order.push_back(&trial);
  std::stable_sort(order.begin(), order.end(), [](const Trial* a, const Trial* b) {
    return a->loss.value_or(HUGE_VAL) < b->loss.value_or(HUGE_VAL);
  });
  Document document;
  document.data("folder", folder.string());
  document.data("metric", metric);
  constexpr std::size_t kWidth = 200;
  Table& table = document.table("trials", {{"trial", "trial"},
                                           {"loss", metric},
                                           {"weight", "weight"},
                                           {"time_seconds", "time"},
                                           {"recipe", "recipe", Align::kLeft},
                                           {"settings", "settings", Align::kLeft, kWidth},
                                           {"problem", "", Align::kLeft}});
  for (const Trial* trial : order) {
    table.add({{trial->number, std::to_string(trial->number)},
               {trial->loss ? Json(*trial->loss) : Json(),
                trial->loss ? fmt::format("{:.4f}", *trial->loss) : "-"},
               {trial->weight, weight_text(*trial)},
               {trial->time_seconds, human_duration(trial->time_seconds)},
               config::to_text(trial->recipe),
               {trial_json(*trial)["settings"], settings_text(*trial)},
               trial->problem});
  }
  constexpr std::size_t kShown = 12;
  table.show_at_most(kShown, "trial");
  if (importance.empty()) {
    document.data("importance", Json::array());
  } else {
    document.add("importance", "importance",
                 {importance_json(importance), importance_text(importance)});
  }
  document.add("loss", metric,
               {ensemble_loss, fmt::format("{:.4f} for rows that the members have not seen; "
                                           "{:.4f} where other rows chose the weights",
                                           ensemble_loss, expected_loss)});
  document.data("expected_loss", expected_loss);
  document.add("members", "members", {num_members, std::to_string(num_members)});
  if (result) document.data(result->split, metrics::to_json(result->report));
  return document;
}

}  // namespace trainer::experiments
