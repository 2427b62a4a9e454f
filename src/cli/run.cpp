// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include <fmt/format.h>

#include "trainer/config/dump.h"
#include "trainer/config/reference.h"

#include "cli/arguments.h"
#include "cli/cv_command.h"
#include "cli/eval_command.h"
#include "cli/export_command.h"
#include "cli/find_batch_command.h"
#include "cli/init_command.h"
#include "cli/inspect_command.h"
#include "cli/predict_command.h"
#include "cli/schedule_command.h"
#include "cli/selftest_command.h"
#include "cli/train_command.h"
#include "cli/verify_command.h"

namespace trainer::cli {

int run(int argc, const char* const* argv) {
  const Arguments arguments = parse_arguments(argc, argv);
  switch (arguments.command) {
    case Command::kTrain:
      return train_command(arguments);
    case Command::kConfigPrint:
      fmt::print("{}", config::dump(resolve(arguments, checkpoint::Purpose::kLook).config));
      break;
    case Command::kConfigCheck:
      resolve(arguments, checkpoint::Purpose::kLook);
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
