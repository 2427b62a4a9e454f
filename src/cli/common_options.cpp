// SPDX-License-Identifier: Apache-2.0
#include "cli/common_options.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/json.h"
#include "trainer/config/fields.h"

#include "cli/agent.h"
#include "cli/suggestions.h"

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
  if (common.verbosity <= Verbosity::kAgent) log::set_console_level(log::Level::kWarning);
}

CommonFlags::CommonFlags() {
  for (const config::Field& field : config::fields()) {
    if (!field.flag.empty()) key_flags_.push_back({&field, {}});
  }
}

std::vector<Option> CommonFlags::options() {
  return {{"-V,--version", &version_, "", "Print versions and exit"},
          {"-q,--quiet", &quiet_, "", "Show warnings and errors only"},
          {"-v,--verbose", &verbose_, "", "Also show debug messages"},
          {kAgentFlag, &agent_, "", "Markdown results, JSON errors, as agents read them"},
          {"--on-end", &on_end_, "COMMAND", "Run a shell command at the end (see the manual)"}};
}

std::vector<Option> CommonFlags::config_options() {
  std::vector<Option> options = {
      {"-c,--config", &config_files_, "FILE", "YAML file; several files are merged in order"},
      {"--resume",
       &resume_,
       "RUN_OR_CHECKPOINT",
       "Resume a run: a checkpoint file, a run folder, or auto (resume the newest run with this "
       "configuration, or start a new one)",
       {"auto"}},
      {"--allow-changes", &allow_changes_, "", "Resume even if configuration or data have changed"},
      {"--print-config", &print_config_, "", "Print the resolved configuration and exit"},
      {"--set", &set_, kKeyValue, "Set any key; same as key=value"},
      {"override", &arguments_, kKeyValue, "Set any configuration key"}};
  for (KeyFlag& flag : key_flags_) {
    options.push_back(
        {flag.field->flag,
         &flag.value,
         "VALUE",
         fmt::format("{} ({})", flag.field->path, config::expected_text(flag.field->access)),
         {},
         "Configuration keys"});
  }
  return options;
}

CommonOptions CommonFlags::read(const std::vector<std::string>& commands,
                                const std::vector<std::string>& known_flags,
                                Problems& problems) const {
  CommonOptions common;
  common.config_files.assign(config_files_.begin(), config_files_.end());
  const auto add = [&](const std::string& text, const char* origin) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      problems.push_back(unknown_word(text, origin, commands, known_flags));
    } else {
      common.overrides.push_back({text.substr(0, equals), text.substr(equals + 1), origin});
    }
  };
  for (const std::string& text : set_) add(text, "--set");
  for (const std::string& text : arguments_) add(text, "command line");
  for (const KeyFlag& flag : key_flags_) {
    if (!flag.value) continue;
    common.overrides.push_back({flag.field->path, *flag.value, flag.field->flag});
  }
  if (!resume_.empty()) common.resume = resume_;
  common.allow_changes = allow_changes_;
  if (quiet_ && verbose_) {
    problems.emplace_back("--quiet: conflicts with --verbose; remove one of them");
  }
  common.agent = agent_;
  common.on_end = on_end_;
  if (is_for_agent()) common.verbosity = Verbosity::kAgent;
  if (quiet_) common.verbosity = Verbosity::kQuiet;
  if (verbose_) common.verbosity = Verbosity::kVerbose;
  return common;
}

Option delimiter_option(FormatOptions& format, const std::string& otherwise) {
  return {"--delimiter", &format.delimiter, "VALUE",
          fmt::format(
              "Delimiter of the table: comma, semicolon, tab or the character itself (default: {})",
              otherwise),
          config::words(config::find_field("data.delimiter")->access)};
}

Option decimal_option(FormatOptions& format, const std::string& otherwise) {
  return {"--decimal", &format.decimal, "VALUE",
          fmt::format("Decimal mark of the numbers: . or , (default: {})", otherwise)};
}

void add_overrides(const FormatOptions& format, std::vector<config::Override>& overrides) {
  if (!format.delimiter.empty()) {
    overrides.push_back({"data.delimiter", format.delimiter, "--delimiter"});
  }
  if (!format.decimal.empty()) overrides.push_back({"data.decimal", format.decimal, "--decimal"});
}

}  // namespace trainer::cli
