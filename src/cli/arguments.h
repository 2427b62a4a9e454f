// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/config/load.h"

#include "cli/export_arguments.h"

namespace trainer::cli {

enum class Command {
  kTrain,
  kConfigPrint,
  kConfigCheck,
  kConfigReference,
  kConfigSchema,
  kConfigSchedule,
  kInit,
  kVerify,
  kFindBatch,
  kPredict,
  kEval,
  kCrossValidate,
  kInspect,
  kExport,
  kSelftestResume,
  kShowText,  // --help, --version: `text` is the whole answer
};

enum class Verbosity { kQuiet, kNormal, kVerbose };

/// The command line, understood.
struct Arguments {
  Command command = Command::kTrain;
  std::vector<std::filesystem::path> config_files;
  std::vector<config::Override> overrides;  // in the order of the command line
  std::optional<std::filesystem::path> resume;
  bool allow_changes = false;
  std::vector<std::filesystem::path>
      paths;                          // of verify; a model: of predict, eval, inspect and export
  std::string data;                   // of init, predict and eval; - is standard input
  std::string output;                 // of init and predict; - is standard output
  std::optional<std::string> target;  // of init
  bool force = false;                 // of init
  std::string delimiter;              // of predict, eval and init; empty: as in the run, or found
  std::string decimal;                // of the same
  std::string task;                   // of init; empty: as data.task: auto
  std::string targets;                // of eval; empty: in the table
  std::vector<std::string> kept;      // of predict
  bool skips_errors = false;          // of predict
  std::string errors;                 // of predict; empty: nowhere
  bool json = false;                  // instead of text, of commands that have it
  int64_t num_kills = 5;              // of selftest resume
  int64_t num_folds = 0;              // of cv; 0: as configured, or 5
  int64_t num_repeats = 0;            // of cv; 0: one, or as it was begun
  int64_t most_rows = 0;              // of find-batch; 0: all of the training part
  ExportArguments exported;
  Verbosity verbosity = Verbosity::kNormal;
  std::string text;
  std::string command_line;  // as typed, for system.json
};

/// Throws Error(kUsage) with every problem and, where there is one, the flag or key that was meant.
Arguments parse_arguments(int argc, const char* const* argv);

}  // namespace trainer::cli
