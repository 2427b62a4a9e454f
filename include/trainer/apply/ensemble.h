// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainer/base/text/json.h"
#include "trainer/config/types.h"
#include "trainer/metrics/score.h"

namespace trainer::apply {

/// The content of ensemble.json, which is in the folder with the run folders of the members.
struct EnsembleFile {
  int64_t num_members = 0;           // planned; `runs` has fewer until all are trained
  std::vector<std::string> runs;     // names of the run folders that are complete
  std::vector<double> weights = {};  // [runs] of sum 1, by which predictions are averaged; or empty
  std::vector<config::Recipe> recipes = {};  // members use them in turn; empty: as configured
  /// With recipes, the settings that differ from the defaults of the recipes, as YAML by key, which
  /// a resume needs.
  std::map<std::string, std::string> settings = {};
};

/// The path of ensemble.json in a folder.
std::filesystem::path ensemble_file(const std::filesystem::path& folder);

/// Reads ensemble.json; nothing if the folder has none. Throws Error(kCheckpoint) if it is damaged.
std::optional<EnsembleFile> read_ensemble(const std::filesystem::path& folder);

/// The recipes that a list of their names has. Throws Error(kCheckpoint) for another name.
std::vector<config::Recipe> recipes_in(const JsonReader& names);

/// The name of a run folder that a file beside it has. Throws Error(kCheckpoint) for a path, which
/// could lead to files of another user.
const std::string& run_name(const JsonReader& run);

/// The mean of each score over the members of an ensemble, of whose summary.json this is, for the
/// split "test" or "validation".
std::vector<metrics::Score> member_means(const JsonReader& summary, const std::string& split);

/// Writes ensemble.json, complete or not at all. Throws Error(kFileSystem).
void write_ensemble(const std::filesystem::path& folder, const EnsembleFile& ensemble);

}  // namespace trainer::apply
