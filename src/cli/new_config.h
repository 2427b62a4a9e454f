// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/table/source/inspect.h"
#include "trainer/workflows/wizard/first_config.h"

#include "cli/common_options.h"
#include "cli/option.h"

namespace trainer::cli {

/// The value of --output that means standard output.
inline constexpr const char* kStandardOutput = "-";

/// What a new configuration is for: to be edited, or to be trained with immediately, which
/// needs a target and a file.
enum class Purpose { kEdit, kTrain };

/// The options by which `init` and `fit` find a table, and the configuration that they write for
/// it.
class NewConfig {
 public:
  /// `command` is the name of the command in messages.
  NewConfig(std::string command, Purpose purpose)
      : command_(std::move(command)), purpose_(purpose) {}

  std::vector<Option> options();

  /// Adds the problems of the options, and one for --resume and --config.
  void check(const CommonOptions& common, Problems& problems);

  /// Inspects the table and writes a configuration whose training fits into the time.
  /// Returns the file, or "-" for standard output. Without a target, lists the columns and returns
  /// nothing, or throws Error(kUsage) if one is needed, which is so for a named file, too. Throws
  /// Error(kUsage) and Error(kFileSystem) if the file cannot be written, before the table is read,
  /// and the errors of data::inspect_table(), make_first_config() and data::load_datasets().
  std::optional<std::string> write();

  /// The column of dates by which write() has found that rows can be ordered, as YAML; empty:
  /// there is none. With Purpose::kTrain, the time is for one more run, on a chronological split.
  const std::string& dates() const { return dates_; }

  /// The time that was given, in seconds, if write() has found that several such trainings fit into
  /// it; else 0.
  double search_seconds() const { return search_seconds_; }

 private:
  // Loads the flags as configuration keys, so that they are validated in the same way.
  config::DataConfig checked_flags() const;
  std::string write_for(const data::TableFacts& table, config::Task task);

  std::string command_;
  Purpose purpose_;
  std::string table_;
  std::string data_;
  std::string query_;
  std::optional<std::string> target_;
  std::string task_;
  FormatOptions format_;
  std::string output_;
  bool force_ = false;
  std::string time_;
  double time_limit_ = wizard::kDefaultTimeLimit;
  std::string dates_;
  double search_seconds_ = 0;
};

}  // namespace trainer::cli
