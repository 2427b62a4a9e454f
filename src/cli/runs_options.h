// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/tracking/run_entry.h"
#include "trainer/tracking/run_list.h"

#include "cli/option.h"

// What the commands of `trainer runs` have in common.
namespace trainer::cli {

/// The folder that has the runs.
Option folder_option(std::string& folder);

/// --filter EXPRESSION, which may be repeated.
Option filter_option(std::vector<std::string>& filters);

/// --json, --csv and --markdown.
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

/// The runs of `folder` for which all filters hold. Throws Error(kFileSystem) if it is no folder,
/// and the errors of tracking::filtered().
std::vector<tracking::RunEntry> entries_of(const std::string& folder,
                                           const std::vector<std::string>& filters);

/// The run that the user means: a folder, or the name of one in `runs`. Throws Error(kUsage) for
/// anything else.
tracking::RunEntry entry_of(const std::string& run);

/// The same for each of them.
std::vector<tracking::RunEntry> entries_of_runs(const std::vector<std::string>& runs);

/// Those of `names` that were removed from `folder`: names, or paths where they were or are.
/// Without names all. Throws Error(kUsage) for anything else.
std::vector<tracking::RunEntry> removed_runs(const std::string& folder,
                                             const std::vector<std::string>& names);

/// "3 runs, 5.0 MiB".
std::string count_and_size(const std::vector<tracking::RunEntry>& entries);

/// "a, b" as two names.
std::vector<std::string> names_in(const std::string& list);

}  // namespace trainer::cli
