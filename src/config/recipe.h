// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trainer/config/recipe.h"

namespace trainer::config {

/// The values of a key for the two tasks, as YAML.
struct ByTask {
  const char* classification;
  const char* regression;
};

/// A value for tables, and one for all other sources.
struct BySource {
  const char* csv;
  const char* others;
};

/// Values by the number of rows of the training split.
struct ByRows {
  std::vector<std::pair<int64_t, const char*>> up_to;  // largest number of rows, value; ascending
  const char* above;
};

/// A default of a recipe: the value as YAML, or several values and what decides between them.
struct RecipeRule {
  const char* key;
  std::variant<const char*, ByTask, BySource, ByRows> value;
};

/// Returns the rules of a recipe; none for kPlain.
const std::vector<RecipeRule>& recipe_rules(Recipe recipe);

/// Returns the value as YAML, or nothing if `facts` lack what it depends on.
std::optional<std::string> value_of(const RecipeRule& rule, const DataFacts& facts);

/// Sets the key of the rule to `value`, which must be valid for it.
void apply_rule(const RecipeRule& rule, const std::string& value, Config& config);

/// Returns the facts that follow from the configuration, before the data are read.
DataFacts known_facts(const Config& config);

}  // namespace trainer::config
