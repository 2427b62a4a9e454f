// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/config/load.h"
#include "trainer/engine/engine.h"

#include "cli/arguments.h"

namespace trainer::cli {

/// A configuration from the files and overrides of the command line, on top of that of the
/// checkpoint when a certain run is resumed.
struct ResolvedArguments {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;
};

ResolvedArguments resolve(const Arguments& arguments, checkpoint::Purpose purpose);

/// `trainer train`: trains and prints the results on standard output. Returns the exit code.
int train_command(const Arguments& arguments);

}  // namespace trainer::cli
