// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/search_series.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/ensemble.h"
#include "trainer/base/error.h"
#include "trainer/base/text/json.h"
#include "trainer/config/fields.h"
#include "trainer/config/load.h"

#include "workflows/experiments/fold_runs.h"
#include "workflows/experiments/member_recipes.h"

namespace trainer::experiments {
namespace {

constexpr int64_t kMaxFolds = 1'000'000;

std::string tag_of(int64_t trial, int64_t fold) {
  return fmt::format("trial_{}_fold_{}", trial, fold);
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

// The recipes of the configuration, and for numbers a linear model beside the others: it is trained
// at once, and far better where columns are many and rows are few.
std::vector<config::Recipe> usual_recipes(const config::Config& config) {
  using config::Recipe;
  std::vector<Recipe> recipes = member_recipes(config);
  if (recipes.empty()) recipes = {config.recipe};
  const bool has_linear =
      std::find(recipes.begin(), recipes.end(), Recipe::kLinear) != recipes.end();
  const bool has_numbers = config.data.task == config::Task::kRegression ||
                           config::is_for_regression(config.training.loss);
  if (!has_numbers || !config.model.hidden_sizes.empty() || config.model.residual) return recipes;
  if (!has_linear) recipes.push_back(Recipe::kLinear);
  if (has_linear && recipes.size() == 1) recipes.push_back(Recipe::kRealmlp);
  return recipes;
}

// What trials after the first ones have: a linear model has little to choose.
std::vector<config::Recipe> searched_recipes(const SearchSeries& search) {
  std::vector<config::Recipe> recipes = search.recipes;
  if (recipes.size() > 1) std::erase(recipes, config::Recipe::kLinear);
  return recipes;
}

// Finds the ranges of each recipe, and reports what is wrong with them before anything is written.
void use_space(SearchSeries& search) {
  for (const config::Recipe recipe : searched_recipes(search)) {
    std::vector<config::Override> of_recipe;
    add_recipe(search.series, search.config, recipe, of_recipe);
    of_recipe.insert(of_recipe.begin(), search.series.overrides.begin(),
                     search.series.overrides.end());
    const config::Config config = config::load(search.series.documents, of_recipe).config;
    search.ranges[recipe] = parse_space(
        search.space.empty() ? default_space(recipe, config.training.epochs) : search.space);
    for (const config::Override& setting : extreme_settings(search.ranges[recipe])) {
      std::vector<config::Override> overrides = of_recipe;
      overrides.push_back(setting);
      config::load(search.series.documents, overrides);
    }
  }
}

void use_recipes(std::vector<config::Recipe> recipes, SearchSeries& search) {
  if (!recipes.empty()) search.series.overrides.push_back(recipe_override(recipes.front()));
  search.config = shared_config(search.series);
  search.recipes = recipes.empty() ? usual_recipes(search.config) : std::move(recipes);
  use_space(search);
}

// Each trial has a fold for validation in each run, or the rows that the configuration names.
void use_folds(const SearchRequest& request, SearchSeries& search) {
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

// Refuses a limit that no trial keeps.
void check_members(const SearchRequest& request, const SearchSeries& search) {
  if (request.limits.members == 0 || request.limits.members >= search.num_folds) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("--max-members: expected at least {}, the folds of one trial, got {}",
                          search.num_folds, request.limits.members));
}

// What is not asked for is as it was, so that a search that was stopped ends as one that was not.
void use_limits(const SearchRequest& request, SearchSeries& search) {
  constexpr double kDefaultSeconds = 600;
  const JsonReader file = JsonReader::of_file(search.series.folder / kSearchFile);
  const JsonReader before = file["limits"];
  search.limits = request.limits;
  if (search.limits.seconds == 0 && search.limits.trials == 0) {
    search.limits.seconds = before.number("time_seconds").value_or(kDefaultSeconds);
    search.limits.trials = before.integer("trials");
  }
  if (search.limits.members == 0) search.limits.members = before.integer("members");
  search.seconds_before = file.number("time_seconds").value_or(0);
}

SearchSeries read_new(const SearchRequest& request) {
  SearchSeries search{new_series(request)};
  search.space = request.space;
  search.settings = settings_of(search.series);
  use_recipes(request.recipes, search);
  use_folds(request, search);
  check_members(request, search);
  return search;
}

void start(const SearchRequest& request, SearchSeries& search) {
  const auto is_same = [&] {
    const JsonReader before = JsonReader::of_file(search.series.folder / kSearchFile);
    return !before.is_null() && space_in(before["space"]) == search.space &&
           apply::recipes_in(before["recipes"]) == search.recipes &&
           before.integer("folds") == search.num_folds &&
           has_same_runs(search.series, fold_run(search, make_trial(search, 1), 1));
  };
  open_series(request, "search", is_same, search.series);
}

// Throws unless a resumed search is asked for what it was started with.
void refuse_changes(const SearchRequest& request, const SearchSeries& search) {
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

SearchSeries read_old(const SearchRequest& request) {
  const JsonReader before = JsonReader::of_file(*request.resume / kSearchFile);
  if (before.is_null()) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: expected the folder of a search, which contains a {}; found none",
                            request.resume->string(), kSearchFile));
  }
  SearchSeries search{read_series(request, tag_of(1, 1), "a search")};
  search.num_folds = before["folds"].integer(/*min=*/1, kMaxFolds);
  search.space = space_in(before["space"]);
  search.recipes = apply::recipes_in(before["recipes"]);
  for (const auto& [key, value] : before["settings"].entries()) search.settings[key] = value.text();
  refuse_changes(request, search);
  check_members(request, search);
  use_settings(search.settings, (search.series.folder / kSearchFile).string(), request.overrides,
               search.series);
  use_recipes(search.recipes, search);
  refuse_changes(search.series, fold_run(search, make_trial(search, 1), 1), "search");
  return search;
}

SearchSeries read_search(const SearchRequest& request) {
  return request.resume ? read_old(request) : read_new(request);
}

}  // namespace

SearchSeries open_search(const SearchRequest& request) {
  SearchSeries search = read_search(request);
  if (request.resume) {
    resume_series(request, search.series);
  } else {
    start(request, search);
  }
  use_limits(request, search);
  return search;
}

std::vector<RecipeSpace> search_spaces(const SearchRequest& request) {
  const SearchSeries search = read_search(request);
  std::vector<RecipeSpace> spaces;
  for (const config::Recipe recipe : searched_recipes(search)) {
    const std::vector<KeyRange>& ranges = search.ranges.at(recipe);
    spaces.push_back({recipe, {ranges.begin(), ranges.end()}});
  }
  return spaces;
}

Json search_json(const SearchSeries& search) {
  Json json = {{"space", space_json(search.space)},
               {"recipes", Json::array()},
               {"settings", search.settings},
               {"folds", search.num_folds},
               {"limits",
                {{"time_seconds", search.limits.seconds},
                 {"trials", search.limits.trials},
                 {"members", search.limits.members}}}};
  for (const config::Recipe recipe : search.recipes) {
    json["recipes"].push_back(config::to_text(recipe));
  }
  return json;
}

Trial make_trial(const SearchSeries& search, int64_t number) {
  const auto index = static_cast<std::size_t>(number - 1);
  if (index < search.recipes.size()) return {.number = number, .recipe = search.recipes[index]};
  const std::vector<config::Recipe> recipes = searched_recipes(search);
  Trial trial{.number = number, .recipe = recipes[index % recipes.size()]};
  trial.settings =
      draw_trial(search.ranges.at(trial.recipe), static_cast<uint64_t>(search.config.seed), number);
  return trial;
}

SeriesRun fold_run(const SearchSeries& search, const Trial& trial, int64_t fold) {
  SeriesRun run{.tag = tag_of(trial.number, fold),
                .name = fmt::format("trial {} fold {}/{}", trial.number, fold, search.num_folds)};
  const auto first_seed = static_cast<int64_t>(config::training_seed(search.config));
  add_recipe(search.series, search.config, trial.recipe, run.overrides);
  run.overrides.insert(run.overrides.end(),
                       {{"training.seed", std::to_string(first_seed + trial.number - 1), "search"},
                        {"checkpoint.keep_last", "1", "search"}});
  if (search.num_folds > 1) {
    const auto rows = validation_fold(fold, search.num_folds, "--folds");
    run.overrides.insert(run.overrides.end(), rows.begin(), rows.end());
  }
  run.overrides.insert(run.overrides.end(), trial.settings.begin(), trial.settings.end());
  return run;
}

}  // namespace trainer::experiments
