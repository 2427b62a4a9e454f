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
  std::vector<config::Override> overrides;  // --set, key=value, then the flags of keys
  std::optional<std::filesystem::path> resume;
  bool allow_changes = false;
  Verbosity verbosity = Verbosity::kNormal;
  std::string command_line;  // as typed, for system.json
};

/// Adds a problem if --resume was given to a command that cannot resume: "eval".
void refuse_resume(const std::string& command, const CommonOptions& common, Problems& problems);

/// Adds problems for overrides of other keys than `allowed_keys`. `reason` says why, after the name
/// of the command: "takes no configuration".
void refuse_overrides(const std::string& command, const char* reason,
                      const std::vector<std::string>& allowed_keys, const CommonOptions& common,
                      Problems& problems);

/// Adds problems for --resume, --config and overrides, given to a command without configuration.
void refuse_configuration(const std::string& command, const CommonOptions& common,
                          Problems& problems);

/// What --json prints: indented, or one line where the log has JSON too, whose readers read lines.
std::string result_text(const nlohmann::ordered_json& result);

/// With --quiet, shows only warnings and errors from now on.
void apply_quiet(const CommonOptions& common);

}  // namespace trainer::cli
