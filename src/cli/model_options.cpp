// SPDX-License-Identifier: Apache-2.0
#include "cli/model_options.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/conformal.h"
#include "trainer/apply/evaluate.h"
#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/config/dump.h"
#include "trainer/config/load.h"
#include "trainer/metrics/score.h"

namespace trainer::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kNewestRun = "runs/latest";

// Returns whether the argument in the place of a model must be a table: it has the extension of a
// file, but not that of a model, and is no folder. It need not exist.
bool names_table(const fs::path& name) {
  constexpr std::array kModels = {".pt", ".pth", ".ckpt", ".checkpoint", ".safetensors", ".onnx"};
  const std::string extension = name.extension().string();
  std::error_code ignored;
  return !extension.empty() &&
         std::find(kModels.begin(), kModels.end(), extension) == kModels.end() &&
         !fs::is_directory(name, ignored) && !fs::is_directory("runs" / name, ignored);
}

}  // namespace

Option model_option(std::string& model) {
  return {"model", &model, "RUN_OR_CHECKPOINT",
          "A run folder (its best epoch), the name of a run in runs, or a checkpoint file "
          "(default: the newest run in runs)"};
}

Option query_option(std::string& query) {
  return {"--query", &query, "SELECT",
          "Table that a SELECT statement of DuckDB gives, in place of --data"};
}

Option table_option(std::string& table) {
  return {"table", &table, "FILE", "The same as --data FILE"};
}

void move_table(std::string& model, std::string& table) {
  if (table.empty() && names_table(model)) std::swap(model, table);
}

void take_table(std::string& table, std::string& data, Problems& problems) {
  if (table.empty()) return;
  if (!data.empty()) {
    problems.push_back(fmt::format("expected one table, got {} and --data {}; remove one of them",
                                   in_quotes(table), in_quotes(data)));
  }
  data = std::exchange(table, {});
}

void check_data(const std::string& data, const std::string& query, Problems& problems) {
  if (!data.empty() && !query.empty()) {
    problems.emplace_back("--query: conflicts with --data; remove one of them");
  }
}

void check_model(const std::string& command, const std::string& model, Problems& problems) {
  std::error_code ignored;
  if (!model.empty() || fs::is_directory(kNewestRun, ignored)) return;
  problems.push_back(fmt::format(
      "{}: expected a run folder or a checkpoint file, got nothing, and the folder runs has no "
      "run; name one",
      command));
}

void check_overrides(const std::string& command, const CommonOptions& common,
                     const std::vector<std::string>& allowed_keys, Problems& problems) {
  constexpr const char* kReason = "always uses the run's saved configuration";
  refuse_resume(command, common, problems);
  if (!common.config_files.empty()) {
    problems.push_back(fmt::format("--config: {} {}; remove this option", command, kReason));
  }
  refuse_overrides(command, kReason, allowed_keys, common, problems);
}

std::string model_text(const apply::Model& model) {
  return fmt::format("{} ({})", model.file.string(), apply::epoch_text(model));
}

std::string data_text(const data::TableSource& data, const std::string& split) {
  if (split.empty()) return data::source_name(data);
  if (split == apply::kOutOfFold) return "the out-of-fold rows of the run";
  return fmt::format("the {} split of the run", split);
}

Document model_document(const apply::Model& model, const data::TableSource& data,
                        const std::string& split, const std::string& data_shown) {
  Document document;
  document.add("checkpoint", "model", {model.file.string(), model_text(model)});
  document.add("data", "data",
               {split.empty() ? Json(data::source_name(data)) : Json(), data_shown});
  document.data("split", split.empty() ? Json() : Json(split));
  if (model.is_ensemble()) {
    document.data("members", model.members.size());
  } else {
    document.data("epoch", model.members.front().position.epoch);
  }
  return document;
}

void show_notes(const apply::FileNotes& notes) {
  for (const std::string& line : notes.files) log::info(line);
  if (notes.num_without_target > 0) {
    log::info(fmt::format("dropped {} without a target", counted(notes.num_without_target, "row")));
  }
  if (notes.num_weightless > 0) {
    log::info(fmt::format("left out {} of weight 0", counted(notes.num_weightless, "row")));
  }
  for (const std::string& warning : notes.warnings) log::warning(warning);
}

std::string model_path(const std::string& name) {
  std::error_code ignored;
  if (name.empty()) {
    const fs::path newest = fs::path("runs") / fs::canonical(kNewestRun, ignored).filename();
    log::info(fmt::format("the newest run: {}", newest.string()));
    return newest.string();
  }
  const fs::path run = fs::path("runs") / name;
  return !fs::exists(name, ignored) && fs::is_directory(run, ignored) ? run.string() : name;
}

apply::Model load_model(const std::string& run_or_checkpoint) {
  apply::Model model = apply::load_model(model_path(run_or_checkpoint));
  for (const apply::Member& member : model.members) {
    if (member.position.step > 0) continue;
    log::warning(
        fmt::format("{}: this model has not been trained; its weights are the initial ones",
                    member.file.string()));
  }
  return model;
}

void check_output(const fs::path& output, const fs::path& checkpoint) {
  if (output == "-") return;
  std::error_code ignored;
  const fs::path folder = checkpoint.parent_path();
  const bool is_among_them = folder.filename() == "checkpoints" &&
                             fs::equivalent(folder, fs::absolute(output).parent_path(), ignored);
  if (is_among_them) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--output: {} is in the checkpoints folder of the run; choose another folder",
                    output.string()));
  }
  if (!fs::equivalent(output, checkpoint, ignored)) return;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("--output: {} is the model itself; choose another name", output.string()));
}

config::Config config_for(const apply::Model& model, const CommonOptions& common,
                          const FormatOptions& format) {
  config::Config config = model.config();
  config.threads = 0;
  config.precision = config::Precision::kFp32;
  std::vector<config::Override> overrides = common.overrides;
  add_overrides(format, overrides);
  return config::load({{model.file.string(), config::dump({config, {}}), ""}}, overrides).config;
}

// Standard input has no name whose extension could tell the delimiter, so the name of the training
// data decides.
data::TableSource table_source(const config::DataConfig& data, const data::Schema& schema,
                               const std::string& given, const std::string& query) {
  data::TableSource source{.path = given, .query = query};
  source.format = data::csv_format(data, given == "-" ? data.path : given);
  source.format.missing = data::MissingValues(schema.missing);
  return source;
}

void apply_precision(const config::Config& config, apply::Model& model) {
  if (config.precision == config::Precision::kFp16) {
    throw Error(ErrorKind::kUsage,
                "precision: a model is applied in fp32 or bf16, got fp16; set precision: bf16");
  }
  model.precision = config.precision;
}

int64_t thread_count(const config::Config& config) {
  return config.threads > 0 ? config.threads : usable_cpus();
}

namespace {

constexpr std::string_view kAuto = "auto:";

std::vector<std::string> auto_words() {
  std::vector<std::string> words;
  for (const std::string& name : enum_names<metrics::DecisionMetric>()) {
    words.push_back(fmt::format("{}{}", kAuto, name));
  }
  return words;
}

}  // namespace

Option threshold_option(ThresholdOption& threshold) {
  return {"--threshold", &threshold.text, "VALUE",
          "Of two classes: predict the second if its probability is above this (default: 0.5); "
          "auto:f1, or another of accuracy, balanced_accuracy and binary_f1, chooses the best on "
          "the validation split",
          auto_words()};
}

void check_threshold(ThresholdOption& threshold, Problems& problems) {
  if (threshold.text.empty()) return;
  if (threshold.text.starts_with(kAuto)) {
    threshold.metric = from_text<metrics::DecisionMetric>(threshold.text.substr(kAuto.size()));
    if (threshold.metric) return;
  } else if (const auto number = parse_double(threshold.text);
             number && *number > 0 && *number < 1) {
    threshold.number = *number;
    return;
  }
  problems.push_back(fmt::format(
      "--threshold: expected a number between 0 and 1, or auto: with {}, got {}",
      joined(enum_names<metrics::DecisionMetric>(), " or "), in_quotes(threshold.text)));
}

std::string apply_threshold(const ThresholdOption& threshold, apply::Model& model,
                            int64_t num_threads) {
  if (threshold.text.empty()) return "";
  if (model.schema.labels.size() != 2) {
    throw Error(ErrorKind::kUsage, fmt::format("--threshold: {} is not a model of two classes; "
                                               "remove this option",
                                               model.file.string()));
  }
  if (!threshold.metric) {
    model.threshold = threshold.number;
    return shortest(threshold.number);
  }
  const metrics::ThresholdChoice choice =
      apply::find_threshold(model, *threshold.metric, num_threads);
  model.threshold = choice.threshold;
  const std::string& name = to_text(*threshold.metric);
  return fmt::format(
      "{:.4g} ({} {} on the {})", choice.threshold, metrics::shown_name(name),
      metrics::score_text({name, choice.value}),
      model.is_ensemble() ? "rows that its members did not see" : "validation split");
}

Option interval_option(IntervalOption& interval) {
  return {"--interval", &interval.text, "VALUE",
          "Add intervals, or sets of classes, that contain the target with this probability, such "
          "as 0.9 (conformal prediction from the validation split)"};
}

void check_interval(IntervalOption& interval, Problems& problems) {
  if (interval.text.empty()) return;
  const std::optional<double> number = parse_double(interval.text);
  if (number && *number > 0 && *number < 1) {
    interval.coverage = *number;
    return;
  }
  problems.push_back(fmt::format("--interval: expected a number between 0 and 1, got {}",
                                 in_quotes(interval.text)));
}

void apply_interval(const IntervalOption& interval, apply::Model& model, int64_t num_threads) {
  if (interval.text.empty()) return;
  model.conformal = apply::find_intervals(model, interval.coverage, num_threads);
  const bool has_classes = !model.schema.labels.empty();
  std::vector<std::string> bounds;
  for (const double bound : model.conformal->bounds) bounds.push_back(fmt::format("{:.4g}", bound));
  log::info(
      fmt::format("{} in {:g} % of {} that the model was not trained on: {}",
                  has_classes ? "sets that contain the class" : "intervals that contain the target",
                  100 * interval.coverage, counted(model.conformal->num_rows, "row"),
                  has_classes ? fmt::format("classes of probability {} or more", bounds.front())
                              : fmt::format("the prediction ± {}", joined_some(bounds))));
}

}  // namespace trainer::cli
