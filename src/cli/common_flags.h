// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/common_options.h"
#include "cli/option.h"

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
  /// Returns a message for each word after `trainer help` that is not one of `commands`.
  Problems unknown_topics(const std::vector<std::string>& commands) const;

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
  std::string resume_;
  std::vector<std::string> config_files_;
  std::vector<std::string> set_;
  std::vector<std::string> arguments_;  // positional: key=value, or a mistake of the user
  std::vector<KeyFlag> key_flags_;
};

}  // namespace trainer::cli
