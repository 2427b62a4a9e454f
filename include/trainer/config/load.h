// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trainer/config/config.h"

namespace trainer::config {

/// A YAML text and where it came from.
struct Document {
  std::string name;  // shown before the line number in messages
  std::string text;
  std::filesystem::path folder;  // relative paths in the text start here
};

/// A value given on the command line.
struct Override {
  std::string key;     // "training.learning_rate"
  std::string value;   // YAML: "[256, 128]", "null"
  std::string origin;  // how the user gave it: "--lr", "--set", "command line"
};

/// A configuration and where each value came from: "configs/train.yaml:7", "--lr", "recipe realmlp"
/// or "default".
struct Loaded {
  Config config;
  std::map<std::string, std::string> origins;  // by key; keys without an entry have their defaults
};

/// Reads a file, or the standard input for "-". Throws Error(kUsage) when it is missing, a folder
/// or unreadable.
Document read_document(const std::filesystem::path& path);

/// Returns the defaults, changed by the documents in their order and then by the overrides. Throws
/// Error(kUsage) with all problems, one per line (after 20, only the number of the others):
/// `file:line: key: expected ..., got ...; did you mean "..."?`.
Loaded load(const std::vector<Document>& documents, const std::vector<Override>& overrides);

/// Like load(), but for a command line that is still incomplete: there are no checks, and whatever
/// load() would report is ignored.
Loaded load_draft(const std::vector<Document>& documents, const std::vector<Override>& overrides);

/// Returns where the value of `key` came from, in the words of Loaded.
std::string origin_of(const Loaded& loaded, const std::string& key);

/// Returns the conflicts between keys, one line for each; empty if there are none. Implemented in
/// validate.cpp.
std::vector<std::string> find_conflicts(const Loaded& loaded);

}  // namespace trainer::config
