// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trainer/config/recipe.h"

namespace trainer::config {

/// A value for each task.
struct ByTask {
  const char* classification;
  const char* regression;
};

/// A value for CSV files, and one for other sources.
struct BySource {
  const char* csv;
  const char* others;
};

/// A value for each size of the training split.
struct ByRows {
  std::vector<std::pair<int64_t, const char*>> up_to;  // so many rows, ascending
  const char* above;
};

/// The default of a key, as YAML, or what it depends on.
struct RecipeRule {
  const char* key;
  std::variant<const char*, ByTask, BySource, ByRows> value;
};

/// The rules of a recipe.
const std::vector<RecipeRule>& recipe_rules(Recipe recipe);

/// The value as YAML, where `facts` have what it depends on.
std::optional<std::string> value_of(const RecipeRule& rule, const DataFacts& facts);

/// Sets the key of the rule to a value that is right for it.
void apply_rule(const RecipeRule& rule, const std::string& value, Config& config);

/// What is known before the data are read.
DataFacts known_facts(const Config& config);

}  // namespace trainer::config
