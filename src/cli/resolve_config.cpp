// SPDX-License-Identifier: Apache-2.0
#include "cli/resolve_config.h"

#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "trainer/core/error.h"

namespace trainer::cli {

ResolvedConfig resolve_config(const Arguments& arguments, checkpoint::Purpose purpose) {
  const bool search = arguments.resume == kResumeAuto;
  ResolvedConfig resolved;
  std::vector<config::Document> documents;
  if (arguments.resume && !search) {
    resolved.resume = checkpoint::open_checkpoint(*arguments.resume, purpose);
    documents.push_back({resolved.resume->file.string(), resolved.resume->checkpoint.config, ""});
  }
  for (const std::filesystem::path& file : arguments.config_files) {
    documents.push_back(config::read_document(file));
  }
  resolved.config = config::load(documents, arguments.overrides);
  if (search) {
    const config::Config& config = resolved.config.config;
    resolved.resume = checkpoint::find_same_run(config.output_dir, config, purpose);
  }
  return resolved;
}

void require_config(const Arguments& arguments, const std::string& command,
                    const std::string& options) {
  if (arguments.resume || !arguments.config_files.empty() || !arguments.overrides.empty()) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("{0}: expected a configuration, got nothing; try trainer {0} --config "
                          "configs/train.yaml{1}",
                          command, options));
}

}  // namespace trainer::cli
