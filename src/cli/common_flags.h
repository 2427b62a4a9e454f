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

/// The common options as typed. Values of keys remain text, which config::load() parses like those
/// of files. Options point into the object.
class CommonFlags {
 public:
  CommonFlags();
  CommonFlags(const CommonFlags&) = delete;
  CommonFlags& operator=(const CommonFlags&) = delete;
  ~CommonFlags() = default;

  /// Options of every command. --help lists them before those of the default command.
  std::vector<Option> options();

  /// Options of commands that take a configuration, listed after them.
  std::vector<Option> config_options();

  /// The given options. An argument that is neither key=value nor one of `commands` is a problem.
  CommonOptions read(const std::vector<std::string>& commands,
                     const std::vector<std::string>& known_flags, Problems& problems) const;

  bool wants_version() const { return version_; }
  bool wants_config() const { return print_config_; }
  /// `trainer help`.
  bool wants_help() const { return !arguments_.empty() && arguments_.front() == "help"; }
  /// What follows `trainer help` and is none of `commands`: a message each.
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
  std::vector<std::string> arguments_;  // positional: key=value, or a mistake
  std::vector<KeyFlag> key_flags_;
};

}  // namespace trainer::cli
