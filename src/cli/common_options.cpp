// SPDX-License-Identifier: Apache-2.0
#include "cli/common_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/json.h"

namespace trainer::cli {

void refuse_resume(const std::string& command, const CommonOptions& common, Problems& problems) {
  if (common.resume) problems.push_back(fmt::format("--resume is not supported by {}", command));
}

void refuse_overrides(const std::string& command, const char* reason,
                      const std::vector<std::string>& allowed_keys, const CommonOptions& common,
                      Problems& problems) {
  for (const config::Override& given : common.overrides) {
    if (std::find(allowed_keys.begin(), allowed_keys.end(), given.key) != allowed_keys.end()) {
      continue;
    }
    problems.push_back(fmt::format("{}: {}: {} {}; remove this override", given.origin, given.key,
                                   command, reason));
  }
}

void refuse_configuration(const std::string& command, const CommonOptions& common,
                          Problems& problems) {
  refuse_resume(command, common, problems);
  if (!common.config_files.empty()) {
    problems.push_back(fmt::format("--config: {} takes no configuration; remove it", command));
  }
  refuse_overrides(command, "takes no configuration", {}, common, problems);
}

std::string result_text(const Json& result) {
  const int indent = log::console_format() == log::Format::kJson ? -1 : 2;
  return result.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

void apply_quiet(const CommonOptions& common) {
  if (common.verbosity == Verbosity::kQuiet) log::set_console_level(log::Level::kWarning);
}

}  // namespace trainer::cli
