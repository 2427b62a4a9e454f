// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/apply/labelled_rows.h"
#include "trainer/apply/model.h"
#include "trainer/base/text/document.h"
#include "trainer/metrics/classification.h"
#include "trainer/table/source/table_source.h"

#include "cli/common_options.h"
#include "cli/option.h"

namespace trainer::config {
struct Config;
struct DataConfig;

}  // namespace trainer::config

/// Options of the commands that use a trained model, such as predict, eval, inspect and export.

namespace trainer::cli {

/// Returns the positional argument that names a run folder or a checkpoint file, such as
/// "runs/latest". Without it, the newest run is meant.
Option model_option(std::string& model);

/// Returns the option --query, a SELECT statement that takes the place of --data.
Option query_option(std::string& query);

/// Returns the positional argument that names a table, as --data does.
Option table_option(std::string& table);

/// Moves the table of `predict new.csv`, which stands in the place of a model, to `table`.
void move_table(std::string& model, std::string& table);

/// Moves a table that was named without --data to `data`. Adds a problem if `data` is given too.
void take_table(std::string& table, std::string& data, Problems& problems);

/// Adds a problem if both --data and --query are given.
void check_data(const std::string& data, const std::string& query, Problems& problems);

/// Returns the table in the file `given` ("-": standard input), or the one that `query` selects.
/// `data` tells its format, and `schema` which texts are missing values.
data::TableSource table_source(const config::DataConfig& data, const data::Schema& schema,
                               const std::string& given, const std::string& query);

/// Adds a problem if no model was given and there is no run in the folder runs. `command` is the
/// name of the command, such as "eval".
void check_model(const std::string& command, const std::string& model, Problems& problems);

/// Adds problems for --resume, --config and overrides of keys other than `allowed_keys`, because
/// the command uses the configuration of the run.
void check_overrides(const std::string& command, const CommonOptions& common,
                     const std::vector<std::string>& allowed_keys, Problems& problems);

/// Returns the checkpoint and its epoch for people: "runs/a/checkpoints/best.pt (epoch 12)".
std::string model_text(const apply::Model& model);

/// Returns what the data are, for people: the split of the run, or `data` if `split` is empty.
std::string data_text(const data::TableSource& data, const std::string& split);

/// Returns the part of a result that names the model and the data. People see the data as
/// `data_shown`. JSON has {"checkpoint", "data", "split", "epoch" or "members"}; of "data" and
/// "split", one is null.
Document model_document(const apply::Model& model, const data::TableSource& data,
                        const std::string& split, const std::string& data_shown);

/// Logs the notes and warnings about a table that has been read.
void show_notes(const apply::FileNotes& notes);

/// Returns the path of the run or checkpoint that the user means: `name`, or "runs/NAME" if only
/// that exists. If `name` is empty, returns the newest run and logs which one that is.
std::string model_path(const std::string& name);

/// Calls apply::load_model(), and warns if the model is untrained (a checkpoint of step 0).
apply::Model load_model(const std::string& run_or_checkpoint);

/// Throws Error(kUsage) if `output` would replace the checkpoint, or lies in the run's folder of
/// checkpoints.
void check_output(const std::filesystem::path& output, const std::filesystem::path& checkpoint);

/// Returns the run's configuration with the format, threads and precision of the command line. If
/// these are not given, the number of threads is 0, because the run may come from another machine,
/// and the precision is fp32.
config::Config config_for(const apply::Model& model, const CommonOptions& common,
                          const FormatOptions& format);

/// Makes the model predict in the precision of the configuration. Throws Error(kUsage) for fp16.
void apply_precision(const config::Config& config, apply::Model& model);

/// Returns config.threads, or the number of usable CPUs if that is 0.
int64_t thread_count(const config::Config& config);

/// The value of --threshold: a number, or the metric for which the best threshold is chosen.
struct ThresholdOption {
  std::string text = {};  // as given; empty: not given
  double number = 0.5;
  std::optional<metrics::DecisionMetric> metric = {};
};

Option threshold_option(ThresholdOption& threshold);

/// Parses `text` into `number` or `metric`. Adds a problem if it is neither.
void check_threshold(ThresholdOption& threshold, Problems& problems);

/// Sets the threshold of the model, if one was given, and returns a text that explains it, or an
/// empty one. Throws Error(kUsage) if the model does not have two classes, and the errors of
/// apply::find_threshold().
std::string apply_threshold(const ThresholdOption& threshold, apply::Model& model,
                            int64_t num_threads);

/// The value of --interval: the probability that an interval or a set contains the target.
struct IntervalOption {
  std::string text = {};  // as given; empty: not given
  double coverage = 0;
};

Option interval_option(IntervalOption& interval);

/// Parses `text` into `coverage`. Adds a problem if it is no number between 0 and 1.
void check_interval(IntervalOption& interval, Problems& problems);

/// Sets the intervals of the model and logs their width, if they were asked for. Throws as
/// apply::find_intervals() does.
void apply_interval(const IntervalOption& interval, apply::Model& model, int64_t num_threads);

}  // namespace trainer::cli
