// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace trainer::cli {

/// A word that could stand where the cursor is.
struct Candidate {
  std::string text;
  std::string help = {};
  bool is_part = false;  // more of the word follows: "training.", "seed=", "data/"
};

/// Files that could stand there.
enum class Paths { kNone, kFiles, kFolders, kCheckpoints };

/// All words that could stand where the cursor is, whether they begin with what is typed or not:
/// shells choose, each by its own rules.
struct Completion {
  std::vector<Candidate> candidates;
  Paths paths = Paths::kNone;  // also these, each behind `before`
  std::string before;          // "data.path="
};

/// Completes the last of `words`, which follow the program's name and may be empty.
Completion complete(std::span<const CommandRow> table, std::span<const std::string> words);

/// The files and folders of the folder that is typed so far, "~/data/", as candidates; a folder
/// ends with a slash. Hidden ones only where their dot is typed.
std::vector<Candidate> path_candidates(Paths paths, const std::string& typed);

}  // namespace trainer::cli
