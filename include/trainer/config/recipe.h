// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/config/config.h"

namespace trainer::config {

/// The facts about the data that decide values of a recipe.
struct DataFacts {
  Task task = Task::kAuto;  // kAuto: not known yet
  int64_t num_train = 0;    // rows of the training split; 0: not known yet
  Source source = Source::kCsv;
};

/// A default of a recipe in words, such as "selu for classification, mish for regression".
struct RecipeDefault {
  std::string key;
  std::string value;
};

/// Returns the defaults that a recipe sets, in the order of the reference page; empty for kPlain.
std::vector<RecipeDefault> recipe_defaults(Recipe recipe);

/// Returns whether a recipe has its own default for `key`.
bool sets_default(Recipe recipe, const std::string& key);

/// Returns whether `key` has the value that the recipe of `config` sets. False for values that
/// depend on the data.
bool has_recipe_default(const Config& config, const std::string& key);

/// Changes the recipe of a configuration that was not loaded from a file: resets the keys of the
/// previous recipe, then sets those of the new one, or adds them to `config.pending` if they depend
/// on the data. For files, load() does this.
void set_recipe(Config& config, Recipe recipe);

/// Sets those keys in `config.pending` that the recipe decides to the values that follow from
/// `facts`, and removes them from the list. `facts` must be complete.
void complete_recipe(Config& config, const DataFacts& facts);

}  // namespace trainer::config
