// SPDX-License-Identifier: Apache-2.0
#include "cli/dispatch.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <variant>

#include <fmt/format.h>

#include "trainer/config/dump.h"
#include "trainer/config/fields.h"
#include "trainer/config/reference.h"
#include "trainer/core/error.h"
#include "trainer/core/log.h"
#include "trainer/core/text.h"

#include "cli/arguments.h"
#include "cli/cv_command.h"
#include "cli/eval_command.h"
#include "cli/export_command.h"
#include "cli/find_batch_command.h"
#include "cli/init_command.h"
#include "cli/inspect_command.h"
#include "cli/predict_command.h"
#include "cli/resolve_config.h"
#include "cli/schedule_command.h"
#include "cli/selftest_command.h"
#include "cli/train_command.h"
#include "cli/verify_command.h"

namespace trainer::cli {
namespace {

// They may still come, so that the configuration is valid all the same.
void check_files(const config::Config& config) {
  for (const config::Field& field : config::fields()) {
    const auto* access = std::get_if<config::PathAccess>(&field.access);
    if (access == nullptr || field.path == "output_dir") continue;
    config::Config copy = config;
    const std::string& path = access->member(copy);
    std::error_code ignored;
    if (path.empty() || std::filesystem::exists(path, ignored)) continue;
    log::warning(fmt::format("{}: {}: no such file", field.path, path));
  }
}

// What is given here is written into files of text: configurations, JSON.
void require_text(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    if (is_utf8(argv[i])) continue;
    throw Error(ErrorKind::kUsage,
                fmt::format("command line: expected UTF-8 text, got {}; rename the file or folder",
                            in_quotes(argv[i])));
  }
}

}  // namespace

int dispatch(int argc, const char* const* argv) {
  require_text(argc, argv);
  const Arguments arguments = parse_arguments(argc, argv);
  switch (arguments.command) {
    case Command::kTrain:
      return train_command(arguments);
    case Command::kConfigPrint:
      fmt::print("{}", config::dump(resolve_config(arguments, checkpoint::Purpose::kLook).config));
      break;
    case Command::kConfigCheck:
      check_files(resolve_config(arguments, checkpoint::Purpose::kLook).config.config);
      fmt::print("the configuration is valid\n");
      break;
    case Command::kConfigReference:
      fmt::print("{}", config::reference_page());
      break;
    case Command::kConfigSchema:
      fmt::print("{}", config::json_schema());
      break;
    case Command::kConfigSchedule:
      return schedule_command(arguments);
    case Command::kInit:
      return init_command(arguments);
    case Command::kVerify:
      return verify_command(arguments);
    case Command::kFindBatch:
      return find_batch_command(arguments);
    case Command::kEval:
      return eval_command(arguments);
    case Command::kCrossValidate:
      return cv_command(arguments);
    case Command::kPredict:
      return predict_command(arguments);
    case Command::kInspect:
      return inspect_command(arguments);
    case Command::kSelftestResume:
      return selftest_resume_command(arguments);
    case Command::kExport:
      return export_command(arguments);
    case Command::kShowText:
      fmt::print("{}", arguments.text);
      break;
  }
  return 0;
}

}  // namespace trainer::cli
