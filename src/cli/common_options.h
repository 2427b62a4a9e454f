// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "trainer/config/load.h"

#include "cli/option.h"

namespace trainer::cli {

enum class Verbosity { kQuiet, kNormal, kVerbose };

/// The options that may be given before or after any command.
struct CommonOptions {
  std::vector<std::filesystem::path> config_files;
  std::vector<config::Override> overrides;  // in order: --set, key=value, flags of keys
  std::optional<std::filesystem::path> resume;
  bool allow_changes = false;
  Verbosity verbosity = Verbosity::kNormal;
  std::string command_line;  // as typed; recorded in system.json
};

/// Adds a problem if --resume was given. `command` is the name of a command that cannot resume,
/// such as "eval".
void refuse_resume(const std::string& command, const CommonOptions& common, Problems& problems);

/// Adds a problem for each override of a key that is not in `allowed_keys`. `reason` follows the
/// name of the command in the message, such as "takes no configuration".
void refuse_overrides(const std::string& command, const char* reason,
                      const std::vector<std::string>& allowed_keys, const CommonOptions& common,
                      Problems& problems);

/// Adds problems for --resume, --config and overrides, for a command that takes no configuration.
void refuse_configuration(const std::string& command, const CommonOptions& common,
                          Problems& problems);

/// Returns the text that --json prints: indented, or on one line if the console shows the log as
/// JSON, because readers of that log expect one object per line.
std::string result_text(const nlohmann::ordered_json& result);

/// With --quiet, limits the messages on the console to warnings and errors from now on.
void apply_quiet(const CommonOptions& common);

}  // namespace trainer::cli
