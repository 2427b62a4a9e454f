// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/common_options.h"
#include "cli/option.h"

namespace trainer::cli {

/// A command of the program: `trainer eval`. Its options write to its members, so it must outlive
/// the parsing of the command line.
class Command {
 public:
  virtual ~Command() = default;

  /// The options of this command. Those that the default command has, too, may stand before the
  /// name of this one.
  virtual std::vector<Option> options() { return {}; }

  /// What its --help ends with: examples.
  virtual std::string footer() const { return ""; }

  /// Checks the options, including required ones, so that unknown (maybe misspelled) flags are
  /// reported first.
  virtual void check(const CommonOptions& /*common*/, Problems& /*problems*/) {}

  /// Returns the exit code. Throws Error.
  virtual int run(const CommonOptions& common) = 0;
};

}  // namespace trainer::cli
