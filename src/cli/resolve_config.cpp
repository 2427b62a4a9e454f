// SPDX-License-Identifier: Apache-2.0
#include "cli/resolve_config.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/config/logging_config.h"

namespace trainer::cli {

ResolvedConfig resolve_config(const CommonOptions& common, checkpoint::OpenMode mode) {
  const bool search = common.resume == kResumeAuto;
  ResolvedConfig resolved;
  std::vector<config::Document> documents;
  if (common.resume && !search) {
    resolved.resume = checkpoint::open_checkpoint(*common.resume, mode);
    documents.push_back({resolved.resume->file.string(), resolved.resume->checkpoint.config, ""});
  }
  for (const std::filesystem::path& file : common.config_files) {
    documents.push_back(config::read_document(file));
  }
  resolved.config = config::load(documents, common.overrides);
  if (search) {
    const config::Config& config = resolved.config.config;
    resolved.resume = checkpoint::find_same_run(config.output_dir, config, mode);
  }
  return resolved;
}

config::Config draft_config(const CommonOptions& common) {
  std::vector<config::Document> documents;
  for (const std::filesystem::path& file : common.config_files) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) {
      documents.push_back(config::read_document(file));
    }
  }
  return config::load_draft(documents, common.overrides).config;
}

config::Config choose_log_format(const CommonOptions& common) {
  config::Config draft = draft_config(common);
  log::set_console_format(config::console_format(draft.logging.format));
  return draft;
}

void require_config(const CommonOptions& common, const std::string& command,
                    const std::string& options) {
  if (common.resume || !common.config_files.empty() || !common.overrides.empty()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{0}: expected a configuration, got nothing; try trainer {0} --config "
                          "configs/train.yaml{1}",
                          command, options));
}

}  // namespace trainer::cli
