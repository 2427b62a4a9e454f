// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trainer/apply/model.h"
#include "trainer/config/config.h"
#include "trainer/data/csv_format.h"

#include "cli/arguments.h"

/// What predict and eval take from the run and what from the command line.
namespace trainer::cli {

/// The run's configuration with --delimiter, --decimal and --threads of the command line. How many
/// threads trained it says nothing about this machine: they are 0 unless given.
config::Config config_for(const Arguments& arguments, const apply::Model& model);

/// Of the file `given`, or "-": written as `data` says, with the missing values of the model.
data::CsvFormat format_of(const config::DataConfig& data, const data::Schema& schema,
                          const std::string& given);

/// As many as config.threads says, else all CPUs that may be used.
int64_t threads_of(const config::Config& config);

}  // namespace trainer::cli
