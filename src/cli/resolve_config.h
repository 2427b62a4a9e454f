// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trainer/config/load.h"
#include "trainer/run/checkpoint/resume_point.h"

#include "cli/common_options.h"

namespace trainer::cli {

/// The value of --resume that selects the newest run with the given configuration.
inline constexpr const char* kResumeAuto = "auto";

/// The configuration from the files and overrides of the command line. If --resume names a
/// checkpoint, they change the configuration of that checkpoint.
struct ResolvedConfig {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;
};

/// Loads the configuration and finds the checkpoint that --resume asks for. Throws the errors of
/// config::load() and checkpoint::open_checkpoint().
ResolvedConfig resolve_config(const CommonOptions& common, checkpoint::OpenMode mode);

/// Returns the configuration of files and overrides as far as it can be read now: unchecked, and
/// without files that are not regular ones, such as pipes.
config::Config draft_config(const CommonOptions& common);

/// Sets the format of log messages on the console to logging.format. Called before the
/// configuration is checked, so that its errors are logged in that format as well. Returns the
/// draft that says it.
config::Config choose_log_format(const CommonOptions& common);

/// Throws Error(kUsage) if the command line has neither a configuration nor a run to resume; the
/// message has the example `trainer <command> --config configs/train.yaml<options>`.
void require_config(const CommonOptions& common, const std::string& command,
                    const std::string& options = "");

}  // namespace trainer::cli
