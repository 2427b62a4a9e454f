// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/common_options.h"
#include "cli/option.h"

namespace trainer::cli {

/// A command of the program: `trainer eval`. Lives while the command line is read and the command
/// runs, so that its options write to its members.
class Command {
 public:
  virtual ~Command() = default;

  /// What it accepts beside the common options. One that is named --json gets the program's
  /// --json, too; without one, --json is refused.
  virtual std::vector<Option> options() { return {}; }

  /// Checks what was given. Required options are checked here, too: so unknown flags, which may
  /// be misspelled ones, are reported first.
  virtual void check(const CommonOptions& /*common*/, Problems& /*problems*/) {}

  /// Returns the exit code. Throws Error.
  virtual int run(const CommonOptions& common) = 0;
};

}  // namespace trainer::cli
