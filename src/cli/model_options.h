// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trainer/apply/labelled_rows.h"
#include "trainer/apply/model.h"
#include "trainer/core/document.h"
#include "trainer/data/table_source.h"

#include "cli/common_options.h"
#include "cli/format_options.h"
#include "cli/option.h"

namespace trainer::config {
struct Config;
struct DataConfig;
}  // namespace trainer::config

/// The options of commands that use a trained model: predict, eval, inspect, export.
namespace trainer::cli {

/// The run folder or checkpoint file: "runs/latest".
Option model_option(std::string& model);

/// A SELECT in place of the file of --data.
Option query_option(std::string& query);

/// Adds a problem if both are given.
void check_data(const std::string& data, const std::string& query, Problems& problems);

/// The table `given`, which may be "-", or that of `query`: written as `data` says, with the
/// missing values of the model.
data::TableSource table_source(const config::DataConfig& data, const data::Schema& schema,
                               const std::string& given, const std::string& query);

/// Adds a problem if no model was given. `command` is the name of the command: "eval".
void check_model(const std::string& command, const std::string& model, Problems& problems);

/// Adds problems for --resume, --config and overrides of other keys than `allowed_keys`: the
/// configuration of the run is used.
void check_overrides(const std::string& command, const CommonOptions& common,
                     const std::vector<std::string>& allowed_keys, Problems& problems);

/// "runs/a/checkpoints/best.pt (epoch 12)".
std::string model_text(const apply::Model& model);

/// The split of the run's own data, or the name of the data, for people to read.
std::string data_text(const data::TableSource& data, const std::string& split);

/// What a result is of: the model, and the data, which people read as `data_shown`. Programs:
/// {"checkpoint", "data", "split", "epoch" or "members"}; of "data" and "split", one is null.
Document model_document(const apply::Model& model, const data::TableSource& data,
                        const std::string& split, const std::string& data_shown);

/// Logs what is to be said about a file that was read.
void show_notes(const apply::FileNotes& notes);

/// What the user means by a run or checkpoint: a path, or the name of a run in `runs`.
std::string model_path(const std::string& name);

/// apply::load_model(), with a warning if the model is untrained (the checkpoint before the first
/// step).
apply::Model load_model(const std::string& run_or_checkpoint);

/// Throws Error(kUsage) if `output` would replace the checkpoint, or is in the folder of the run's
/// checkpoints.
void check_output(const std::filesystem::path& output, const std::filesystem::path& checkpoint);

/// The run's configuration with the format, threads and precision of the command line. The number
/// of threads is 0 unless given: that of the training may be of another machine. The precision is
/// fp32 unless given.
config::Config config_for(const apply::Model& model, const CommonOptions& common,
                          const FormatOptions& format);

/// Lets the model predict in the precision of the configuration. Throws Error(kUsage) for fp16.
void apply_precision(const config::Config& config, apply::Model& model);

/// config.threads, or else the number of usable CPUs.
int64_t thread_count(const config::Config& config);

}  // namespace trainer::cli
