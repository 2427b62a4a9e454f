// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace trainer::cli {

/// A word that the shell may offer at the cursor.
struct Candidate {
  std::string text;
  std::string help = {};
  bool is_part = false;  // more of the word follows, as after "training.", "seed=" and "data/"
};

/// Which paths may be typed at the cursor. kCheckpoints: .pt files and folders.
enum class Paths { kNone, kFiles, kFolders, kCheckpoints };

/// All words that may be typed at the cursor, also those that do not begin with what has been
/// typed: each shell filters them by its own rules.
struct Completion {
  std::vector<Candidate> candidates;
  Paths paths = Paths::kNone;  // these paths are candidates too, each after the text `before`
  std::string before;          // such as "data.path="
};

/// Completes the last of `words`, the words after the program's name, of which there may be none.
Completion complete(std::span<const CommandRow> table, std::span<const std::string> words);

/// Returns the files and folders in the folder that has been typed so far ("~/data/"), sorted by
/// name. Folders end with a slash, except run folders where a run can be given. Hidden ones are
/// left out unless their dot has been typed.
std::vector<Candidate> path_candidates(Paths paths, const std::string& typed);

}  // namespace trainer::cli
