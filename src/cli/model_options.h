// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "trainer/apply/model.h"
#include "trainer/data/csv_format.h"

#include "cli/common_options.h"
#include "cli/format_options.h"
#include "cli/option.h"

namespace trainer::config {
struct Config;
struct DataConfig;
}  // namespace trainer::config

/// What the commands share that apply a trained model: predict, eval, inspect, export.
namespace trainer::cli {

/// The run folder or checkpoint file: "runs/latest".
Option model_option(std::string& model);

/// A problem where no model was given. `command` is its name: "eval".
void check_model(const std::string& command, const std::string& model, Problems& problems);

/// The keys of the configuration that a command takes in spite of the run's own.
enum class AllowedKeys { kNone, kThreads };

/// The run's own configuration is used: problems are other keys, and --resume.
void check_overrides(const std::string& command, const CommonOptions& common, AllowedKeys allowed,
                     Problems& problems);

/// apply::load_model(), with a warning where it has not been trained at all, as the checkpoint
/// from before the first step.
apply::Model load_model(const std::string& run_or_checkpoint);

/// Throws Error(kUsage) when `output` would replace the checkpoint, from which its run can be
/// resumed, or stand beside it in the run folder.
void check_output(const std::filesystem::path& output, const std::filesystem::path& checkpoint);

/// The run's configuration with what the command line has of the format and of threads. The number
/// of threads that trained the model says nothing about this machine: it is 0 unless given.
config::Config config_for(const apply::Model& model, const CommonOptions& common,
                          const FormatOptions& format);

/// Of the file `given`, or "-": written as `data` says, with the missing values of the model.
data::CsvFormat csv_format(const config::DataConfig& data, const data::Schema& schema,
                           const std::string& given);

/// config.threads, else the number of CPUs that may be used.
int64_t thread_count(const config::Config& config);

}  // namespace trainer::cli
