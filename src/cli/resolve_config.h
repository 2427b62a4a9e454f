// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trainer/checkpoint/resume_point.h"
#include "trainer/config/load.h"

#include "cli/common_options.h"

namespace trainer::cli {

/// The value of --resume for the newest run of the configuration.
inline constexpr const char* kResumeAuto = "auto";

/// The configuration from files and overrides of the command line, based on that of the checkpoint
/// if
/// --resume names one.
struct ResolvedConfig {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;
};

/// Throws as config::load() and checkpoint::open_checkpoint().
ResolvedConfig resolve_config(const CommonOptions& common, checkpoint::OpenMode mode);

/// The configuration of files and overrides as far as it can be read now: without checks, and
/// without what comes from a pipe.
config::Config draft_config(const CommonOptions& common);

/// Logs from now on as logging.format says, also what is wrong with the configuration.
void choose_log_format(const CommonOptions& common);

/// Throws Error(kUsage) if the command line has neither a configuration nor a run to resume; the
/// message has the example `trainer <command> --config configs/train.yaml<options>`.
void require_config(const CommonOptions& common, const std::string& command,
                    const std::string& options = "");

}  // namespace trainer::cli
