// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/config/config.h"

namespace trainer::config {

/// What a recipe asks of the data.
struct DataFacts {
  Task task = Task::kAuto;  // kAuto: not known yet
  int64_t num_train = 0;    // rows of the training split; 0: not known yet
  Source source = Source::kCsv;
};

/// One default of a recipe, in words: "selu for classification, mish for regression".
struct RecipeDefault {
  std::string key;
  std::string value;
};

/// The defaults that a recipe sets, in the order of the reference page; none of kPlain.
std::vector<RecipeDefault> recipe_defaults(Recipe recipe);

/// Whether a recipe has a default of its own for `key`.
bool sets_default(Recipe recipe, const std::string& key);

/// Whether `key` has the value that the recipe of `config` gives it and that depends on no data.
bool has_recipe_default(const Config& config, const std::string& key);

/// Changes the recipe of a configuration that no file states: resets the keys of the one before,
/// and sets those of the new one, or lists them in `config.pending`. For files load() does it.
void set_recipe(Config& config, Recipe recipe);

/// Gives the keys in `config.pending` that the recipe decides the values that follow from the data,
/// and removes them from the list. `facts` must be complete.
void complete_recipe(Config& config, const DataFacts& facts);

}  // namespace trainer::config
