// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "trainer/apply/model.h"
#include "trainer/data/csv_format.h"

#include "cli/arguments.h"

namespace trainer::config {
struct Config;
struct DataConfig;
}  // namespace trainer::config

/// What commands that apply a model take from the run and what from the command line.
namespace trainer::cli {

/// The model that the command line names: apply::load_model(), with a warning where it has not been
/// trained at all, as the checkpoint from before the first step.
apply::Model load_model(const Arguments& arguments);

/// A checkpoint is what a run goes on from: throws Error(kUsage) when `output` would take the place
/// of `checkpoint` or stand beside it in the run folder.
void refuse_checkpoints(const std::filesystem::path& output,
                        const std::filesystem::path& checkpoint);

/// The run's configuration with --delimiter, --decimal and --threads of the command line. How many
/// threads trained it says nothing about this machine: they are 0 unless given.
config::Config config_for(const Arguments& arguments, const apply::Model& model);

/// Of the file `given`, or "-": written as `data` says, with the missing values of the model.
data::CsvFormat format_of(const config::DataConfig& data, const data::Schema& schema,
                          const std::string& given);

/// As many as config.threads says, else all CPUs that may be used.
int64_t threads_of(const config::Config& config);

}  // namespace trainer::cli
