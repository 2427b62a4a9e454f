// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/ensemble.h"

#include <fmt/format.h>

#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/json.h"
#include "trainer/run/folder/run_dir.h"

namespace trainer::apply {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kMaxMembers = 100'000;

}  // namespace

std::vector<config::Recipe> recipes_in(const JsonReader& names) {
  std::vector<config::Recipe> recipes;
  for (const JsonReader& name : names.elements()) {
    const auto recipe = config::from_text<config::Recipe>(name.text());
    if (!recipe) name.refuse("a recipe");
    recipes.push_back(*recipe);
  }
  return recipes;
}

const std::string& run_name(const JsonReader& run) {
  const std::string& name = run.text();
  if (name.empty() || fs::path(name).filename() != name || name == "." || name == "..") {
    run.refuse("the name of a folder beside the file");
  }
  return name;
}

fs::path ensemble_file(const fs::path& folder) { return folder / run::kEnsembleFile; }

std::optional<EnsembleFile> read_ensemble(const fs::path& folder) {
  const fs::path path = ensemble_file(folder);
  if (!fs::exists(path)) return std::nullopt;
  const JsonReader json = JsonReader::of_file(path);
  EnsembleFile ensemble;
  ensemble.num_members = json["members"].integer(/*min=*/1, kMaxMembers);
  if (!json.has("runs")) json["runs"].refuse("a list of folders");
  for (const JsonReader& run : json["runs"].elements()) ensemble.runs.push_back(run_name(run));
  for (const JsonReader& weight : json["weights"].elements()) {
    ensemble.weights.push_back(weight.number());
    if (!(ensemble.weights.back() > 0)) weight.refuse("a number above 0");
  }
  if (!ensemble.weights.empty() && ensemble.weights.size() != ensemble.runs.size()) {
    json["weights"].refuse("a weight for each of the runs");
  }
  // Recipes and settings exist only in ensembles that were made with --recipes.
  ensemble.recipes = recipes_in(json["recipes"]);
  for (const auto& [key, value] : json["settings"].entries()) {
    ensemble.settings[key] = value.text();
  }
  return ensemble;
}

std::vector<metrics::Score> member_means(const JsonReader& summary, const std::string& split) {
  const std::vector<JsonReader> members = summary["members"].elements();
  std::vector<metrics::Score> means;
  for (const JsonReader& member : members) {
    for (const metrics::Score& score : metrics::scores_in(member[split])) {
      metrics::Score* mean = find_by_name(means, score.name);
      if (mean == nullptr) mean = &means.emplace_back(metrics::Score{score.name, 0});
      mean->value += score.value / static_cast<double>(members.size());
    }
  }
  return means;
}

void write_ensemble(const fs::path& folder, const EnsembleFile& ensemble) {
  Json json = {{"members", ensemble.num_members}, {"runs", ensemble.runs}};
  if (!ensemble.weights.empty()) json["weights"] = ensemble.weights;
  for (const config::Recipe recipe : ensemble.recipes) {
    json["recipes"].push_back(config::to_text(recipe));
  }
  if (!ensemble.recipes.empty()) json["settings"] = ensemble.settings;
  write_file_atomically(ensemble_file(folder), json.dump(2) + "\n");
}

}  // namespace trainer::apply
