// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/run/tracking/run_entry.h"
#include "trainer/run/tracking/run_list.h"

#include "cli/option.h"

// Options and arguments that several commands of `trainer runs` share.
namespace trainer::cli {

/// Returns the positional argument that names the folder of the runs.
Option folder_option(std::string& folder);

/// Returns the option --filter EXPRESSION, which may be repeated.
Option filter_option(std::vector<std::string>& filters);

/// The options --json, --csv and --markdown, of which at most one may be given.
class ListFormatOptions {
 public:
  std::vector<Option> options();
  void check(const std::string& command, Problems& problems) const;
  tracking::ListFormat format() const;

 private:
  bool json_ = false;
  bool csv_ = false;
  bool markdown_ = false;
};

/// Returns the runs of `folder` for which all filters are true. Throws Error(kFileSystem) if
/// `folder` is not a folder, and the errors of tracking::filtered().
std::vector<tracking::RunEntry> entries_of(const std::string& folder,
                                           const std::vector<std::string>& filters);

/// Returns the run that the user means: a run folder, or the name of one in the folder "runs".
/// Throws Error(kUsage) for anything else.
tracking::RunEntry entry_of(const std::string& run);

/// Returns the run for each name or folder, as entry_of() does.
std::vector<tracking::RunEntry> entries_of_runs(const std::vector<std::string>& runs);

/// Returns the removed runs that `names` mean: names of runs that were in `folder`, or paths from
/// before or after the removal. Without names, returns all removed runs of `folder`. Throws
/// Error(kUsage) for anything else.
std::vector<tracking::RunEntry> removed_runs(const std::string& folder,
                                             const std::vector<std::string>& names);

/// Returns the number of runs and their size on disk, such as "3 runs, 5.0 MiB".
std::string count_and_size(const std::vector<tracking::RunEntry>& entries);

/// Splits a list such as "a, b" at its commas, without the spaces around names.
std::vector<std::string> names_in(const std::string& list);

}  // namespace trainer::cli
