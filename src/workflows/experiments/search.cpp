// SPDX-License-Identifier: Apache-2.0
// A search is a series of cross-validations in one folder, whose runs are named trial_2_fold_1 and
// so on. What was decided is a function of the runs that are complete: the settings of a trial by
// its number, whether it goes on after its first fold by the scores of those before it, the weights
// by the out-of-fold predictions. So any number of processes find the same trials, each by itself,
// and a search that was killed finds its way by its run folders alone; search.json says what was
// found, and with which space.
#include "trainer/workflows/experiments/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/ensemble.h"
#include "trainer/apply/model.h"
#include "trainer/apply/out_of_fold.h"
#include "trainer/apply/predictor.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/config/fields.h"
#include "trainer/metrics/report.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/workflows/experiments/cross_validation.h"

#include "workflows/experiments/complete_runs.h"
#include "workflows/experiments/fold_runs.h"
#include "workflows/experiments/member_recipes.h"
#include "workflows/experiments/member_weights.h"
#include "workflows/experiments/run_series.h"
#include "workflows/experiments/search_space.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxFolds = 1'000'000;
constexpr const char* kSearchFile = "search.json";

std::string tag_of(int64_t trial, int64_t fold) {
  return fmt::format("trial_{}_fold_{}", trial, fold);
}

/// A trial that a process knows of. Its runs are complete, being trained, or to come.
struct KnownTrial {
  Trial trial;
  std::vector<SeriesRun> folds = {};
  std::vector<double> seconds = {};       // that each fold took; 0 until it is complete
  std::optional<double> first_loss = {};  // of the first fold; infinite if it is not a number
  std::optional<bool> is_promising = {};  // whether the other folds are wanted too
};

/// A search that was started or resumed.
struct Search {
  RunSeries series;
  config::Config config = {};
  std::vector<SpaceKey> space = {};  // empty: default_space() of each recipe
  std::vector<config::Recipe> recipes = {};
  std::map<std::string, std::string> settings = {};  // settings_of()
  int64_t num_folds = kDefaultFolds;
  std::vector<KnownTrial> known = {};        // by number
  std::vector<Trial> trials = {};            // those that are over, of which rank 0 has the results
  std::vector<std::size_t> candidates = {};  // of the pool, as indices of trials
  CandidatePool pool = {};
  ChosenWeights chosen = {};
  int64_t num_before = 0;  // trials that search.json has when a search is resumed
  Stopwatch stopwatch = {};
};

SeriesRun fold_run(const Search& search, const Trial& trial, int64_t fold) {
  SeriesRun run{.tag = tag_of(trial.number, fold),
                .name = fmt::format("trial {} fold {}/{}", trial.number, fold, search.num_folds)};
  const auto first_seed = static_cast<int64_t>(config::training_seed(search.config));
  add_recipe(search.series, search.config, trial.recipe, run.overrides);
  run.overrides.push_back(
      {"training.seed", std::to_string(first_seed + trial.number - 1), "search"});
  if (search.num_folds > 1) {
    const auto rows = validation_fold(fold, search.num_folds, "--folds");
    run.overrides.insert(run.overrides.end(), rows.begin(), rows.end());
  }
  run.overrides.insert(run.overrides.end(), trial.settings.begin(), trial.settings.end());
  return run;
}

Json space_json(const std::vector<SpaceKey>& space) {
  Json json = Json::object();
  for (const SpaceKey& key : space) json[key.key] = key.range;
  return json;
}

std::vector<SpaceKey> space_in(const JsonReader& json) {
  std::vector<SpaceKey> space;
  for (const auto& [key, range] : json.entries()) space.push_back({key, range.text()});
  return space;
}

std::vector<KeyRange> ranges_of(const Search& search, config::Recipe recipe) {
  return parse_space(search.space.empty() ? default_space(recipe) : search.space);
}

// The trial with this number: one of each recipe as it is, and then other settings of each.
Trial make_trial(const Search& search, int64_t number) {
  const auto index = static_cast<std::size_t>(number - 1);
  Trial trial{.number = number, .recipe = search.recipes[index % search.recipes.size()]};
  if (index >= search.recipes.size()) {
    trial.settings = draw_trial(ranges_of(search, trial.recipe),
                                static_cast<uint64_t>(search.config.seed), number);
  }
  return trial;
}

// Reports what is wrong with the space before anything is written.
void check_space(const Search& search) {
  for (const config::Recipe recipe : search.recipes) {
    std::vector<config::Override> of_recipe;
    add_recipe(search.series, search.config, recipe, of_recipe);
    of_recipe.insert(of_recipe.begin(), search.series.overrides.begin(),
                     search.series.overrides.end());
    for (const config::Override& setting : extreme_settings(ranges_of(search, recipe))) {
      std::vector<config::Override> overrides = of_recipe;
      overrides.push_back(setting);
      config::load(search.series.documents, overrides);
    }
  }
}

void use_recipes(std::vector<config::Recipe> recipes, Search& search) {
  if (!recipes.empty()) search.series.overrides.push_back(recipe_override(recipes.front()));
  search.config = shared_config(search.series);
  search.recipes = recipes.empty() ? member_recipes(search.config) : std::move(recipes);
  if (search.recipes.empty()) search.recipes = {search.config.recipe};
  check_space(search);
}

// Each trial has a fold for validation in each run, or the rows that the configuration names.
void use_folds(const SearchRequest& request, Search& search) {
  const config::DataConfig& data = search.config.data;
  if (data.validation_fraction == 0 && data.validation_path.empty() && data.split_column.empty()) {
    throw Error(ErrorKind::kUsage,
                "data.validation_fraction: expected more than 0, by whose rows a search chooses, "
                "got 0; remove the key");
  }
  search.num_folds = request.num_folds > 0 ? request.num_folds : kDefaultFolds;
  if (has_validation_folds(data)) return;
  if (request.num_folds > 1) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--folds: expected 1, because the configuration says which rows "
                            "validate, got {}",
                            request.num_folds));
  }
  search.num_folds = 1;
}

Search start(const SearchRequest& request) {
  Search search{new_series(request)};
  search.space = request.space;
  search.settings = settings_of(search.series);
  use_recipes(request.recipes, search);
  use_folds(request, search);
  const auto is_same = [&] {
    const JsonReader before = JsonReader::of_file(search.series.folder / kSearchFile);
    return !before.is_null() && space_in(before["space"]) == search.space &&
           apply::recipes_in(before["recipes"]) == search.recipes &&
           before.integer("folds") == search.num_folds &&
           has_same_runs(search.series, fold_run(search, make_trial(search, 1), 1));
  };
  open_series(request, "search", is_same, search.series);
  return search;
}

// Throws unless a resumed search is asked for what it was started with.
void refuse_changes(const SearchRequest& request, const Search& search) {
  const std::string folder = request.resume->string();
  if (request.num_folds > 0 && request.num_folds != search.num_folds) {
    refuse_option(request, "--folds", std::to_string(search.num_folds),
                  std::to_string(request.num_folds));
  }
  if (!request.recipes.empty() && request.recipes != search.recipes) {
    refuse_option(request, "--recipes", names_of(search.recipes), names_of(request.recipes));
  }
  if (request.space.empty() || request.space == search.space) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{}: the search was started with another space, {}; give no ranges, or "
                          "start a new search without --resume",
                          folder, space_json(search.space).dump()));
}

Search resume(const SearchRequest& request) {
  const JsonReader before = JsonReader::of_file(*request.resume / kSearchFile);
  if (before.is_null()) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: expected the folder of a search, which contains a {}; found none",
                            request.resume->string(), kSearchFile));
  }
  Search search{read_series(request, tag_of(1, 1), "a search")};
  search.num_folds = before["folds"].integer(/*min=*/1, kMaxFolds);
  search.space = space_in(before["space"]);
  search.recipes = apply::recipes_in(before["recipes"]);
  for (const auto& [key, value] : before["settings"].entries()) search.settings[key] = value.text();
  refuse_changes(request, search);
  use_settings(search.settings, (search.series.folder / kSearchFile).string(), request.overrides,
               search.series);
  use_recipes(search.recipes, search);
  refuse_changes(search.series, fold_run(search, make_trial(search, 1), 1), "search");
  resume_series(request, search.series);
  return search;
}

int64_t num_threads(const Search& search) {
  return search.config.threads > 0 ? search.config.threads : usable_cpus();
}

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
void add_candidate(const Trial& trial, Search& search) {
  std::vector<fs::path> runs;
  runs.reserve(trial.runs.size());
  for (const std::string& run : trial.runs) runs.push_back(search.series.folder / run);
  const apply::FoldOutputs folds = apply::predict_folds(runs, num_threads(search));
  const data::Dataset& rows = folds.all.rows;
  CandidatePool& pool = search.pool;
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
  search.candidates.push_back(static_cast<std::size_t>(trial.number - 1));
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

/// Writes the ensemble, in one step, and then what is known of all trials.
void write_results(const Search& search) {
  const fs::path& folder = search.series.folder;
  apply::EnsembleFile ensemble;
  for (const Trial& trial : search.trials) {
    if (trial.weight == 0) continue;
    for (const std::string& run : trial.runs) {
      ensemble.runs.push_back(run);
      ensemble.weights.push_back(trial.weight / static_cast<double>(trial.runs.size()));
    }
  }
  ensemble.num_members = std::ssize(ensemble.runs);
  if (ensemble.num_members > 0) apply::write_ensemble(folder, ensemble);
  Json json = {{"space", space_json(search.space)},
               {"recipes", Json::array()},
               {"settings", search.settings},
               {"folds", search.num_folds},
               {"trials", Json::array()}};
  for (const config::Recipe recipe : search.recipes) {
    json["recipes"].push_back(config::to_text(recipe));
  }
  for (const Trial& trial : search.trials) json["trials"].push_back(trial_json(trial));
  write_file_atomically(folder / kSearchFile, json.dump(2) + "\n");
}

void weigh_again(Search& search) {
  search.chosen = choose_weights(search.pool);
  for (Trial& trial : search.trials) trial.weight = 0;
  for (std::size_t i = 0; i < search.candidates.size(); ++i) {
    search.trials[search.candidates[i]].weight = search.chosen.weights[i];
  }
}

// A trial that failed leaves this file, so that no process tries it again.
fs::path problem_file(const Search& search, int64_t trial) {
  return search.series.folder / fmt::format("trial_{}_problem.txt", trial);
}

// Every search completes so many, by which others are judged, and each recipe as it is.
bool is_complete_anyway(const Search& search, int64_t trial) {
  constexpr std::size_t kFewest = 3;
  return trial <= std::ssize(search.recipes) || static_cast<std::size_t>(trial) <= kFewest;
}

/// Whether the first fold of a trial is at least as good as that of half of those before it;
/// nothing until all of these are known.
std::optional<bool> is_promising(const Search& search, const KnownTrial& known) {
  const auto index = static_cast<std::size_t>(known.trial.number - 1);
  if (is_complete_anyway(search, known.trial.number)) return true;
  if (!known.first_loss) return std::nullopt;
  std::vector<double> before;
  for (std::size_t i = 0; i < index; ++i) {
    const KnownTrial& other = search.known[i];
    if (!other.first_loss && other.trial.problem.empty()) return std::nullopt;
    if (other.first_loss) before.push_back(*other.first_loss);
  }
  if (before.empty()) return true;
  const auto middle = before.begin() + static_cast<std::ptrdiff_t>(before.size() / 2);
  std::nth_element(before.begin(), middle, before.end());
  return *known.first_loss <= *middle;
}

/// Reads what the complete runs of a trial found.
void look_at(const Search& search, const CompleteRuns& complete, KnownTrial& known) {
  for (std::size_t i = 0; i < known.folds.size(); ++i) {
    const auto found = complete.find(known.folds[i].tag);
    if (known.seconds[i] > 0 || found == complete.end()) continue;
    const JsonReader summary = JsonReader::of_file(run::RunDir{found->second}.summary());
    known.seconds[i] = std::max(summary.number("time_seconds").value_or(0), 1e-3);
    if (i > 0 || summary.is_null()) continue;
    const JsonReader scores = summary["validation"];
    const double loss =
        scores.number(scores.has("log_loss") ? "log_loss" : "rmse").value_or(HUGE_VAL);
    known.first_loss = std::isfinite(loss) ? loss : HUGE_VAL;
  }
  known.trial.problem = read_text(problem_file(search, known.trial.number)).value_or("");
  if (!known.is_promising) known.is_promising = is_promising(search, known);
}

KnownTrial make_known(const Search& search, int64_t number) {
  KnownTrial known{make_trial(search, number)};
  for (int64_t fold = 1; fold <= search.num_folds; ++fold) {
    known.folds.push_back(fold_run(search, known.trial, fold));
  }
  known.seconds.resize(known.folds.size());
  return known;
}

/// Whether all wanted folds of a trial are complete, or it failed.
bool is_over(const KnownTrial& known) {
  if (!known.trial.problem.empty()) return true;
  if (!known.is_promising) return false;
  return !*known.is_promising ||
         std::all_of(known.seconds.begin(), known.seconds.end(), [](double s) { return s > 0; });
}

/// The runs of the trials that are not over, as many as there are processes for them.
std::vector<SeriesRun> next_runs(const SearchRequest& request, const CompleteRuns& complete,
                                 Search& search) {
  std::vector<SeriesRun> runs;
  const int64_t limit = request.max_trials > 0 ? request.max_trials : INT64_MAX;
  for (int64_t number = 1; number <= limit && std::ssize(runs) <= search.series.place.size;
       ++number) {
    const auto index = static_cast<std::size_t>(number - 1);
    if (index == search.known.size()) search.known.push_back(make_known(search, number));
    KnownTrial& known = search.known[index];
    if (is_over(known)) continue;
    look_at(search, complete, known);
    if (is_over(known)) continue;
    const bool only_first = !known.is_promising.value_or(false);
    for (std::size_t i = 0; i < (only_first ? 1 : known.folds.size()); ++i) {
      if (known.seconds[i] == 0) runs.push_back(known.folds[i]);
    }
  }
  return runs;
}

// The trial whose run has this name.
const KnownTrial& trial_of(const Search& search, const std::string& run_name) {
  return *std::find_if(search.known.begin(), search.known.end(), [&](const KnownTrial& known) {
    return run_name.starts_with(fmt::format("trial {} ", known.trial.number));
  });
}

// The seconds that a fold has taken on average.
double mean_seconds(const Search& search) {
  double sum = 0;
  int64_t count = 0;
  for (const KnownTrial& known : search.known) {
    for (const double seconds : known.seconds) {
      sum += seconds;
      count += seconds > 0 ? 1 : 0;
    }
  }
  return sum / static_cast<double>(std::max<int64_t>(count, 1));
}

/// Whether there is time for the run; and if it is the first of a trial, for all of its folds.
bool has_time(const SearchRequest& request, const Search& search, const SeriesRun& run) {
  const KnownTrial& known = trial_of(search, run.name);
  if (fs::exists(problem_file(search, known.trial.number))) return false;
  if (request.max_seconds <= 0 || known.trial.number == 1) return true;
  double seconds = known.seconds.front();
  if (seconds == 0) {
    const int64_t size = search.series.place.size;
    seconds = mean_seconds(search) * static_cast<double>((search.num_folds + size - 1) / size);
  }
  return search.stopwatch.seconds() + seconds <= request.max_seconds;
}

/// Trains a fold. A trial that fails is over, except for the first.
RunOutcome train_fold(const SearchRequest& request, const Search& search, const RunJob& job) {
  try {
    return request.train(job);
  } catch (const Error& error) {
    const bool is_of_trial =
        error.kind() == ErrorKind::kNonFinite || error.kind() == ErrorKind::kOutOfMemory;
    const int64_t number = trial_of(search, job.name).trial.number;
    if (number == 1 || !is_of_trial) throw;
    write_file_atomically(problem_file(search, number), error.what());
    return {search.series.folder, 0};
  }
}

/// Adds a trial that is over to the results, and makes the ensemble again if it can be in it.
void conclude(const SearchRequest& request, const CompleteRuns& complete, const KnownTrial& known,
              Search& search) {
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
  search.trials.push_back(std::move(trial));
  if (is_complete) {
    add_candidate(search.trials.back(), search);
    std::vector<double> alone(search.candidates.size());
    alone.back() = 1;
    search.trials.back().loss = pool_loss(search.pool, alone);
    weigh_again(search);
  }
  if (std::ssize(search.trials) >= search.num_before) write_results(search);
  request.on_trial(search.trials.back(), search.chosen.loss);
  if (search.trials.size() == 1) run::point_latest_to({search.series.folder});
}

/// Concludes the trials that are over, in the order of their numbers.
void conclude_next(const SearchRequest& request, const CompleteRuns& complete, Search& search) {
  next_runs(request, complete, search);
  for (std::size_t i = search.trials.size(); i < search.known.size(); ++i) {
    if (!is_over(search.known[i])) return;
    conclude(request, complete, search.known[i], search);
  }
}

/// Concludes the trials that have begun, when there is no time for the rest of them.
void conclude_rest(const SearchRequest& request, const CompleteRuns& complete, Search& search) {
  for (std::size_t i = search.trials.size(); i < search.known.size(); ++i) {
    if (search.known[i].seconds.front() > 0) {
      conclude(request, complete, search.known[i], search);
    }
  }
}

SearchReport report_of(const Search& search) {
  SearchReport report;
  report.folder = search.series.folder;
  report.metric = search.pool.has_classes ? "log loss" : "RMSE";
  report.trials = search.trials;
  report.ensemble_loss = search.chosen.loss;
  report.expected_loss = search.chosen.expected_loss;
  for (const Trial& trial : search.trials) {
    if (trial.weight > 0) report.num_members += std::ssize(trial.runs);
  }
  return report;
}

// The number of trials that search.json has. Writes the space if there is no such file yet.
int64_t trials_before(const Search& search) {
  const JsonReader before = JsonReader::of_file(search.series.folder / kSearchFile);
  if (before.is_null()) write_results(search);
  return before.is_null() ? 0 : std::ssize(before["trials"].elements());
}

}  // namespace

SearchReport search(const SearchRequest& request) {
  Search search = request.resume ? resume(request) : start(request);
  const bool is_first = search.series.place.rank == 0;
  if (is_first) search.num_before = trials_before(search);
  CompleteRuns all;
  const RunPlan plan{
      .runs = [&](const CompleteRuns& complete) { return next_runs(request, complete, search); },
      .grows = true,
      .may_begin = [&](const SeriesRun& run) { return has_time(request, search, run); },
      .on_progress =
          [&](const CompleteRuns& complete) {
            all = complete;
            conclude_next(request, complete, search);
          }};
  const auto train = [&](const RunJob& job) { return train_fold(request, search, job); };
  const SeriesEnd end = complete_plan(search.series, plan, train);
  if (end.stop_signal == 0 && is_first) conclude_rest(request, all, search);
  SearchReport report = report_of(search);
  report.is_collected = is_first;
  if (end.stop_signal == 0 && is_first) {
    report.result =
        apply::evaluate_own_split(apply::load_model(report.folder), num_threads(search));
  }
  report.stop_signal = end.stop_signal;
  report.stopped = end.stopped;
  return report;
}

namespace {

std::string settings_text(const Trial& trial) {
  if (trial.settings.empty()) return "as it is";
  std::string text;
  for (const config::Override& one : trial.settings) {
    const std::string name = one.key.substr(one.key.rfind('.') + 1);
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, one.value);
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
