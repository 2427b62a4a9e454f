// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/dump.h"

#include <algorithm>

#include <fmt/format.h>

#include "trainer/config/fields.h"
#include "trainer/config/recipe.h"
#include "trainer/config/yaml.h"

namespace trainer::config {
namespace {

bool is_in(const std::string& key, const std::vector<std::string>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Returns whether the value is decided only during the run, when the data and processes are known.
bool is_undecided(const Field& field, const Config& config) {
  const bool is_shards = field.path == "distributed.shards" && config.distributed.shards == 0;
  return is_shards || is_in(field.path, config.pending);
}

// Returns in words which value a pending key will get.
std::string pending_text(const Field& field, const Config& config) {
  if (field.path == "training.epochs") {
    return fmt::format("as many as fit into training.max_seconds, at most {}",
                       config.training.epochs);
  }
  const std::vector<RecipeDefault> defaults = recipe_defaults(config.recipe);
  return std::find_if(defaults.begin(), defaults.end(),
                      [&](const RecipeDefault& value) { return value.key == field.path; })
      ->value;
}

}  // namespace

std::string dump(const Loaded& loaded) {
  constexpr std::size_t kCommentColumn = 44;
  std::string text;
  YamlSections sections;
  for (const Field& field : fields()) {
    text += sections.enter(field.path);
    const std::string key = field.path.substr(field.path.rfind('.') + 1);
    const bool is_pending = is_in(field.path, loaded.config.pending);
    const std::string line = fmt::format(
        "{}{}{}: {}", sections.indent(), is_pending ? "# " : "", key,
        is_pending ? pending_text(field, loaded.config) : value_text(field, loaded.config));
    text += fmt::format("{:<{}}  # {}\n", line, kCommentColumn, origin_of(loaded, field.path));
  }
  return text;
}

std::vector<Difference> differences(const Config& before, const Config& after) {
  std::vector<Difference> differences;
  for (const Field& field : fields()) {
    if (is_undecided(field, before) || is_undecided(field, after)) continue;
    std::string old_value = value_text(field, before);
    std::string new_value = value_text(field, after);
    if (old_value != new_value) {
      differences.push_back({field.path, std::move(old_value), std::move(new_value)});
    }
  }
  return differences;
}

std::vector<Difference> fixed_differences(const Config& before, const Config& after) {
  std::vector<Difference> found = differences(before, after);
  std::erase_if(found, [](const Difference& difference) {
    return find_field(difference.key)->on_resume == OnResume::kMayChange;
  });
  return found;
}

}  // namespace trainer::config
