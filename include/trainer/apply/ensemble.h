// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trainer/config/types.h"

namespace trainer::apply {

/// The content of ensemble.json, in the folder that has the run folders of the members.
struct EnsembleFile {
  int64_t num_members = 0;                   // wanted
  std::vector<std::string> runs;             // names of the run folders that are complete
  std::vector<config::Recipe> recipes = {};  // that members take in turn; none: as configured
  /// With recipes, what is not a default of any: YAML by key, to resume with.
  std::map<std::string, std::string> settings = {};
};

/// The path of ensemble.json in a folder.
std::filesystem::path ensemble_file(const std::filesystem::path& folder);

/// Nothing if the folder has none. Throws Error(kCheckpoint) for one that is damaged.
std::optional<EnsembleFile> read_ensemble(const std::filesystem::path& folder);

/// Writes it, complete or not at all. Throws Error(kFileSystem).
void write_ensemble(const std::filesystem::path& folder, const EnsembleFile& ensemble);

}  // namespace trainer::apply
