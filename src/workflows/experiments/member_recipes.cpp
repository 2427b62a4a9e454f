// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/member_recipes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/config/dump.h"
#include "trainer/config/fields.h"

namespace trainer::experiments {

namespace {

// Keys that say nothing for classes, and that a configuration may not state for them.
bool is_of_regression(const std::string& key) {
  return key == "data.clip_predictions" || key == "data.target_scaling";
}

bool has_classes(const config::Config& config) {
  return config.data.task == config::Task::kClassification ||
         config.training.loss == config::Loss::kCrossEntropy ||
         config.training.loss == config::Loss::kBinaryCrossEntropy;
}

}  // namespace

std::string names_of(const std::vector<config::Recipe>& recipes) {
  std::vector<std::string> names;
  names.reserve(recipes.size());
  for (const config::Recipe recipe : recipes) names.push_back(config::to_text(recipe));
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ","));
}

config::Override recipe_override(config::Recipe recipe) {
  return {"recipe", config::to_text(recipe), "--recipes"};
}

std::vector<config::Recipe> member_recipes(const config::Config& config) {
  std::vector<config::Recipe> recipes;
  recipes.reserve(config.member_recipes.size());
  for (const std::string& name : config.member_recipes) {
    recipes.push_back(config::from_text<config::Recipe>(name).value());
  }
  return recipes;
}

void add_recipe(const RunSeries& series, const config::Config& shared, config::Recipe recipe,
                std::vector<config::Override>& overrides) {
  if (recipe == shared.recipe) return;
  overrides.push_back(recipe_override(recipe));
  std::vector<config::Override> all = series.overrides;
  all.insert(all.end(), overrides.begin(), overrides.end());
  const config::Config own = config::load(series.documents, all).config;
  for (const config::Difference& difference : config::differences(shared, own)) {
    if (!difference.key.starts_with("data.")) continue;
    if (is_of_regression(difference.key) && has_classes(shared)) continue;
    overrides.push_back({difference.key, difference.before, "ensemble"});
  }
}

std::map<std::string, std::string> settings_of(const RunSeries& series) {
  const config::Loaded loaded = config::load(series.documents, series.overrides);
  std::map<std::string, std::string> settings;
  for (const auto& [key, origin] : loaded.origins) {
    if (key != "recipe") settings[key] = config::value_text(key, loaded.config);
  }
  return settings;
}

void use_settings(const std::map<std::string, std::string>& settings, const std::string& origin,
                  const std::vector<config::Override>& overrides, RunSeries& series) {
  series.documents.erase(series.documents.begin());
  series.overrides.clear();
  for (const auto& [key, value] : settings) series.overrides.push_back({key, value, origin});
  series.overrides.insert(series.overrides.end(), overrides.begin(), overrides.end());
}

}  // namespace trainer::experiments
