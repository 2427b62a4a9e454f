// SPDX-License-Identifier: Apache-2.0
// A search is a series of cross-validations in one folder, whose runs are named trial_2_fold_1 and
// so on. What was decided is a function of the runs that are complete: the settings of a trial by
// its number, whether it goes on after its first fold by the scores of those before it, the weights
// by the out-of-fold predictions. So a search that was killed finds its way by its run folders
// alone; search.json says what was found, and with which space.
#include "trainer/workflows/experiments/search.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/ensemble.h"
#include "trainer/apply/out_of_fold.h"
#include "trainer/apply/predictor.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/config/fields.h"
#include "trainer/launch/place.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/workflows/experiments/cross_validation.h"

#include "workflows/experiments/complete_runs.h"
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

/// A search that was started or resumed.
struct Search {
  RunSeries series;
  config::Config config = {};
  std::vector<SpaceKey> space = {};  // empty: default_space() of each recipe
  std::vector<config::Recipe> recipes = {};
  std::map<std::string, std::string> settings = {};  // settings_of()
  int64_t num_folds = kDefaultFolds;
  std::vector<Trial> trials = {};
  std::vector<double> first_losses = {};     // of the first folds of the trials that have one
  std::vector<std::size_t> candidates = {};  // of the pool, as indices of trials
  CandidatePool pool = {};
  ChosenWeights chosen = {};
  Stopwatch stopwatch = {};
};

SeriesRun fold_run(const Search& search, const Trial& trial, int64_t fold) {
  SeriesRun run{.tag = tag_of(trial.number, fold),
                .name = fmt::format("trial {} fold {}/{}", trial.number, fold, search.num_folds)};
  const auto first_seed = static_cast<int64_t>(config::training_seed(search.config));
  add_recipe(search.series, search.config, trial.recipe, run.overrides);
  run.overrides.insert(
      run.overrides.end(),
      {{"data.folds", std::to_string(search.num_folds), "--folds"},
       {"data.fold", std::to_string(fold), "search"},
       {"data.fit_on", "all", "search"},
       {"training.seed", std::to_string(first_seed + trial.number - 1), "search"}});
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
  search.recipes = std::move(recipes);
  if (search.recipes.empty()) search.recipes = {search.config.recipe};
  check_space(search);
}

Search start(const SearchRequest& request) {
  Search search{new_series(request)};
  if (request.num_folds > 0) search.num_folds = request.num_folds;
  search.space = request.space;
  search.settings = settings_of(search.series);
  use_recipes(request.recipes, search);
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
  search.num_folds = before["folds"].integer(/*min=*/2, kMaxFolds);
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
  if (truth != pool.values) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{}: expected the rows of the first trial, got others; the data may "
                            "have changed",
                            runs.front().string()));
  }
  if (pool.folds.empty()) {
    for (std::size_t fold = 0; fold < folds.sizes.size(); ++fold) {
      pool.folds.resize(pool.folds.size() + static_cast<std::size_t>(folds.sizes[fold]),
                        static_cast<int32_t>(fold));
    }
  }
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

/// The loss of the first fold of a trial by the metric of the search; infinite if it has none.
double first_loss(const Search& search, const Trial& trial) {
  const JsonReader test =
      JsonReader::of_file(run::RunDir{search.series.folder / trial.runs.front()}.summary())["test"];
  const std::optional<double> loss = test.number(test.has("log_loss") ? "log_loss" : "rmse");
  return loss && std::isfinite(*loss) ? *loss : HUGE_VAL;
}

/// Whether the first fold of a trial is worse than that of half of the trials before it.
bool is_hopeless(double loss, std::vector<double> before) {
  constexpr std::size_t kFewest = 3;
  if (before.size() < kFewest) return false;
  const auto middle = before.begin() + static_cast<std::ptrdiff_t>(before.size() / 2);
  std::nth_element(before.begin(), middle, before.end());
  return loss > *middle;
}

/// Trains the folds of a trial, or the first one only. Returns the signal that stopped them.
SeriesEnd train_folds(const SearchRequest& request, int64_t first, int64_t last, Search& search,
                      Trial& trial) {
  std::vector<SeriesRun> runs;
  for (int64_t fold = first; fold <= last; ++fold) runs.push_back(fold_run(search, trial, fold));
  return complete_runs(search.series, runs, request.train, [&](std::size_t, const fs::path& dir) {
    trial.runs.push_back(dir.filename().string());
    trial.time_seconds +=
        JsonReader::of_file(run::RunDir{dir}.summary()).number("time_seconds").value_or(0);
  });
}

// Whether so many seconds remain of the time.
bool has_time(const SearchRequest& request, const Search& search, double seconds) {
  return request.max_seconds <= 0 || search.stopwatch.seconds() + seconds <= request.max_seconds;
}

SeriesEnd run_trial(const SearchRequest& request, Search& search) {
  Trial& trial = search.trials.back();
  try {
    SeriesEnd end = train_folds(request, 1, 1, search, trial);
    if (end.stop_signal != 0) return end;
    const double loss = first_loss(search, trial);
    const bool ends = is_hopeless(loss, search.first_losses);
    search.first_losses.push_back(loss);
    if (ends) {
      trial.problem = "worse than most on its first fold";
      return {};
    }
    const double others = trial.time_seconds * static_cast<double>(search.num_folds - 1);
    if (trial.number > 1 && !has_time(request, search, others)) {
      trial.problem = "no time for its other folds";
      return {};
    }
    end = train_folds(request, 2, search.num_folds, search, trial);
    if (end.stop_signal != 0) return end;
  } catch (const Error& error) {
    const bool is_of_trial =
        error.kind() == ErrorKind::kNonFinite || error.kind() == ErrorKind::kOutOfMemory;
    if (trial.number == 1 || !is_of_trial) throw;
    trial.problem = error.what();
    return {};
  }
  add_candidate(trial, search);
  std::vector<double> alone(search.candidates.size());
  alone.back() = 1;
  trial.loss = pool_loss(search.pool, alone);
  weigh_again(search);
  return {};
}

// Whether another trial is wanted, and there is time for one like those that are complete.
bool goes_on(const SearchRequest& request, const Search& search) {
  if (search.trials.empty()) return true;
  const auto count = static_cast<int64_t>(search.trials.size());
  if (request.max_trials > 0 && count >= request.max_trials) return false;
  double sum = 0;
  for (const std::size_t i : search.candidates) sum += search.trials[i].time_seconds;
  return has_time(request, search,
                  sum / static_cast<double>(std::max<std::size_t>(search.candidates.size(), 1)));
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
std::size_t trials_before(const Search& search) {
  const JsonReader before = JsonReader::of_file(search.series.folder / kSearchFile);
  if (before.is_null()) write_results(search);
  return before.is_null() ? 0 : before["trials"].elements().size();
}

}  // namespace

SearchReport search(const SearchRequest& request) {
  if (request.environment && launch::find_place(request.environment).size > 1) {
    throw Error(ErrorKind::kUsage, "search runs as one process; start it without the launcher");
  }
  Search search = request.resume ? resume(request) : start(request);
  search.series.max_processes = 1;  // after the first trial LibTorch is loaded: too late for others
  const std::size_t num_before = trials_before(search);
  SeriesEnd end;
  while (end.stop_signal == 0 && goes_on(request, search)) {
    const auto number = static_cast<int64_t>(search.trials.size()) + 1;
    search.trials.push_back(make_trial(search, number));
    end = run_trial(request, search);
    if (end.stop_signal == 0) {
      // While a resumed search finds its trials again, its files say more than it knows.
      if (search.trials.size() >= num_before) write_results(search);
      request.on_trial(search.trials.back(), search.chosen.loss);
    } else {
      search.trials.pop_back();
    }
    if (number == 1 && end.stop_signal == 0) run::point_latest_to({search.series.folder});
  }
  SearchReport report = report_of(search);
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
  return document;
}

}  // namespace trainer::experiments
