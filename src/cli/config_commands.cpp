// SPDX-License-Identifier: Apache-2.0
// The commands of `trainer config` that need no data: print, check, reference, schema.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/config/dump.h"
#include "trainer/config/fields.h"
#include "trainer/config/reference.h"

#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/resolve_config.h"

namespace trainer::cli {
namespace {

class ConfigPrintCommand : public Command {
 public:
  bool takes_configuration() const override { return true; }

  int run(const CommonOptions& common) override {
    print_data(config::dump(resolve_config(common, checkpoint::OpenMode::kReadOnly).config));
    return 0;
  }
};

// A missing file is only a warning: it may be created later, and the configuration is valid.
void warn_about_missing_files(const config::Config& config) {
  for (const config::Field& field : config::fields()) {
    const auto* access = std::get_if<config::PathAccess>(&field.access);
    // The program itself creates these two folders.
    if (access == nullptr || field.path == "output_dir" || field.path == "data.cache") continue;
    config::Config copy = config;
    const std::string& path = access->member(copy);
    std::error_code ignored;
    if (path.empty() || std::filesystem::exists(path, ignored)) continue;
    log::warning(fmt::format("{}: {}: no such file", field.path, path));
  }
}

// The text says that the data were not read, because `config check` only reads the configuration.
std::string checked_text(const CommonOptions& common) {
  std::vector<std::string> parts;
  parts.reserve(common.config_files.size());
  for (const std::filesystem::path& file : common.config_files) parts.push_back(file.string());
  if (common.resume) parts.push_back("--resume " + common.resume->string());
  if (!common.overrides.empty()) {
    parts.push_back(counted(static_cast<int64_t>(common.overrides.size()), "value") +
                    " of the command line");
  }
  return fmt::format("the configuration is valid: {}; the data were not read\n",
                     fmt::join(parts, ", "));
}

class ConfigCheckCommand : public Command {
 public:
  bool takes_configuration() const override { return true; }

  void check(const CommonOptions& common, Problems& problems) override {
    if (common.resume || !common.config_files.empty() || !common.overrides.empty()) return;
    problems.emplace_back("config check: expected a configuration, got nothing; add --config FILE");
  }

  int run(const CommonOptions& common) override {
    warn_about_missing_files(resolve_config(common, checkpoint::OpenMode::kReadOnly).config.config);
    print_safely(checked_text(common));
    return 0;
  }
};

class ConfigReferenceCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {{"key", &keys_, kKey,
             "Key, or the last part of one, or a section: training (default: all, as Markdown)"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    refuse_configuration("config reference", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    print_safely(keys_.empty() ? config::reference_page()
                               : help_on_keys("config reference", keys_, {}));
    return 0;
  }

 private:
  std::vector<std::string> keys_;
};

class ConfigSchemaCommand : public Command {
 public:
  void check(const CommonOptions& common, Problems& problems) override {
    refuse_configuration("config schema", common, problems);
  }

  int run(const CommonOptions& /*common*/) override {
    print_safely(config::json_schema());
    return 0;
  }
};

}  // namespace

std::unique_ptr<Command> make_config_print_command() {
  return std::make_unique<ConfigPrintCommand>();
}

std::unique_ptr<Command> make_config_check_command() {
  return std::make_unique<ConfigCheckCommand>();
}

std::unique_ptr<Command> make_config_reference_command() {
  return std::make_unique<ConfigReferenceCommand>();
}

std::unique_ptr<Command> make_config_schema_command() {
  return std::make_unique<ConfigSchemaCommand>();
}

}  // namespace trainer::cli
