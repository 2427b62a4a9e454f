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

/// kQuiet: warnings and errors; kAgent: results too; kNormal, kVerbose: more and more messages.
enum class Verbosity { kQuiet, kAgent, kNormal, kVerbose };

/// The options that may be given before or after any command.
struct CommonOptions {
  std::vector<std::filesystem::path> config_files;
  std::vector<config::Override> overrides;  // in order: --set, key=value, flags of keys
  std::optional<std::filesystem::path> resume;
  bool allow_changes = false;
  Verbosity verbosity = Verbosity::kNormal;
  bool agent = false;        // --agent was given
  std::string on_end;        // the shell command of --on-end; empty: none
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

/// With --quiet or for an agent, limits the messages on the console to warnings and errors from now
/// on.
void apply_quiet(const CommonOptions& common);

}  // namespace trainer::cli

namespace trainer::config {
struct Field;
}

namespace trainer::cli {

/// The common options as typed. Values of keys remain text, which config::load() parses like the
/// text of files. The options that are returned write to members of this object.
class CommonFlags {
 public:
  CommonFlags();
  CommonFlags(const CommonFlags&) = delete;
  CommonFlags& operator=(const CommonFlags&) = delete;
  ~CommonFlags() = default;

  /// Returns the options that every command has. --help lists them before those of the default
  /// command.
  std::vector<Option> options();

  /// Returns the options of commands that take a configuration. --help lists them last.
  std::vector<Option> config_options();

  /// Returns the options that were given. Adds a problem for each argument that is not key=value;
  /// `commands` and `known_flags` serve to suggest what was meant.
  CommonOptions read(const std::vector<std::string>& commands,
                     const std::vector<std::string>& known_flags, Problems& problems) const;

  bool wants_version() const { return version_; }
  bool wants_config() const { return print_config_; }
  /// Returns whether the command line is `trainer help`, maybe followed by a command.
  bool wants_help() const { return !arguments_.empty() && arguments_.front() == "help"; }
  /// Returns the words after `trainer help` that are not the name of a command.
  std::vector<std::string> help_topics() const {
    return wants_help() ? std::vector(arguments_.begin() + 1, arguments_.end()) : arguments_;
  }

 private:
  struct KeyFlag {
    const config::Field* field = nullptr;
    std::optional<std::string> value;
  };

  bool version_ = false;
  bool print_config_ = false;
  bool allow_changes_ = false;
  bool quiet_ = false;
  bool verbose_ = false;
  bool agent_ = false;
  std::string on_end_;
  std::string resume_;
  std::vector<std::string> config_files_;
  std::vector<std::string> set_;
  std::vector<std::string> arguments_;  // positional: key=value, or a mistake of the user
  std::vector<KeyFlag> key_flags_;
};

/// The values of --delimiter and --decimal, the format of the table that --data names. Empty: not
/// given.
struct FormatOptions {
  std::string delimiter;
  std::string decimal;
};

/// Return the options --delimiter and --decimal. `otherwise` describes the default: "as in the
/// run".
Option delimiter_option(FormatOptions& format, const std::string& otherwise);
Option decimal_option(FormatOptions& format, const std::string& otherwise);

/// Adds the options that were given as overrides of data.delimiter and data.decimal, so that
/// config::load() validates them.
void add_overrides(const FormatOptions& format, std::vector<config::Override>& overrides);

}  // namespace trainer::cli
