// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trainer/config/fields.h"

#include "cli/commands.h"
#include "cli/option.h"
#include "cli/typed_line.h"

// Completion of values. `typed` is the beginning of the value that has been typed.

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

/// Completes the value of an option or a positional argument, according to Option::value_name.
Completion option_values(const TypedLine& line, const Option& option, const std::string& typed);

/// Completes the value of a configuration key.
Completion key_values(const TypedLine& line, const config::Field& field, const std::string& typed);

/// Completes a key that the command takes, section by section: "training.", then
/// "training.epochs=". After the equals sign, completes the value.
Completion keys(const TypedLine& line, const std::string& typed);

/// Puts `before` in front of all candidates and of the paths that are candidates.
Completion behind(const std::string& before, Completion completion);

}  // namespace trainer::cli
