// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/config/load.h"

#include "workflows/experiments/run_series.h"

/// Series whose runs use several recipes. They share the preprocessing (the keys of `data`) of the
/// first one, because all members of an ensemble have the same features.
namespace trainer::experiments {

/// "realmlp,tabm", or "none".
std::string names_of(const std::vector<config::Recipe>& recipes);

config::Override recipe_override(config::Recipe recipe);

/// Returns the recipes that `member_recipes` names; config::load() has checked the names.
std::vector<config::Recipe> member_recipes(const config::Config& config);

/// Appends what makes a run use `recipe`, except for the keys of `data`, which are those of
/// `shared`, the configuration of the first recipe.
void add_recipe(const RunSeries& series, const config::Config& shared, config::Recipe recipe,
                std::vector<config::Override>& overrides);

/// The values that the user has set, as YAML by key. They are stored with the series, because the
/// configuration of a run states all values of its recipe, whereas a run with another recipe must
/// use the defaults of that.
std::map<std::string, std::string> settings_of(const RunSeries& series);

/// Makes the settings and then `overrides` those of a series that was read, in place of the
/// configuration of its first run. `origin` says in messages where the settings are from.
void use_settings(const std::map<std::string, std::string>& settings, const std::string& origin,
                  const std::vector<config::Override>& overrides, RunSeries& series);

}  // namespace trainer::experiments
