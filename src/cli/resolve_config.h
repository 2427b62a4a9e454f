// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trainer/checkpoint/resume_point.h"
#include "trainer/config/load.h"

#include "cli/common_options.h"

namespace trainer::cli {

/// The value of --resume that stands for the newest run of the configuration.
inline constexpr const char* kResumeAuto = "auto";

/// A configuration from the files and overrides of the command line, on top of that of the
/// checkpoint when a certain run is resumed.
struct ResolvedConfig {
  config::Loaded config;
  std::optional<checkpoint::ResumePoint> resume;
};

/// Throws as config::load() and checkpoint::open_checkpoint().
ResolvedConfig resolve_config(const CommonOptions& common, checkpoint::OpenMode mode);

/// Throws Error(kUsage) where the command line has no configuration and no run to resume; its
/// example is `trainer <command> --config configs/train.yaml<options>`.
void require_config(const CommonOptions& common, const std::string& command,
                    const std::string& options = "");

}  // namespace trainer::cli
