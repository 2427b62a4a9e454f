// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/ensemble.h"

#include <algorithm>

#include <fmt/format.h>

#include "trainer/core/atomic_file.h"
#include "trainer/core/error.h"
#include "trainer/core/json.h"
#include "trainer/run/run_dir.h"

namespace trainer::apply {

namespace fs = std::filesystem;

namespace {

bool is_recipe(const Json& name) {
  return name.is_string() && config::from_text<config::Recipe>(name.get<std::string>());
}

bool is_text(const Json& value) { return value.is_string(); }

// They are there with --recipes only.
bool has_good_recipes(const Json& json) {
  const Json recipes = json.value("recipes", Json::array());
  const Json settings = json.value("settings", Json::object());
  return recipes.is_array() && std::all_of(recipes.begin(), recipes.end(), is_recipe) &&
         settings.is_object() && std::all_of(settings.begin(), settings.end(), is_text);
}

// A path that leads elsewhere would load files of somebody else.
bool is_name(const Json& run) {
  return run.is_string() && !run.get<std::string>().empty() &&
         fs::path(run.get<std::string>()).filename() == run.get<std::string>();
}

}  // namespace

fs::path ensemble_file(const fs::path& folder) { return folder / run::kEnsembleFile; }

std::optional<EnsembleFile> read_ensemble(const fs::path& folder) {
  const fs::path path = ensemble_file(folder);
  if (!fs::exists(path)) return std::nullopt;
  const Json json = read_json_or_null(path);
  const bool is_good =
      json.is_object() && json.contains("members") && json.contains("runs") &&
      json["members"].is_number_integer() && json["members"] > 0 && json["runs"].is_array() &&
      std::all_of(json["runs"].begin(), json["runs"].end(), is_name) && has_good_recipes(json);
  if (!is_good) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: expected the members of an ensemble, got something else; the file "
                            "is damaged",
                            path.string()));
  }
  EnsembleFile ensemble{.num_members = json["members"].get<int64_t>(),
                        .runs = json["runs"].get<std::vector<std::string>>()};
  for (const auto& name : json.value("recipes", std::vector<std::string>())) {
    ensemble.recipes.push_back(*config::from_text<config::Recipe>(name));
  }
  ensemble.settings = json.value("settings", std::map<std::string, std::string>());
  return ensemble;
}

void write_ensemble(const fs::path& folder, const EnsembleFile& ensemble) {
  Json json = {{"members", ensemble.num_members}, {"runs", ensemble.runs}};
  for (const config::Recipe recipe : ensemble.recipes) {
    json["recipes"].push_back(config::to_text(recipe));
  }
  if (!ensemble.recipes.empty()) json["settings"] = ensemble.settings;
  write_file_atomically(ensemble_file(folder), json.dump(2) + "\n");
}

}  // namespace trainer::apply
