// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/inspect.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/apply/prediction_text.h"
#include "trainer/base/text/format.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/config/fields.h"
#include "trainer/metrics/score.h"
#include "trainer/run/folder/run_dir.h"

#include "apply/model.h"

namespace trainer::apply {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLines = 40;  // columns that the text lists

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json inspected_column(const data::Column& column) {
  Json json = column_json(column);
  if (column.kind == data::ColumnKind::kNumeric && !column.fill) json["fill"] = Json();
  if (data::num_features(column) == 0 && !column.reason.empty()) json["reason"] = column.reason;
  return json;
}

Json score_json(const run::EpochSummary& score) {
  Json json = {{"loss", or_null(score.loss)}};
  if (score.accuracy) json["accuracy"] = *score.accuracy;
  return json;
}

Json history_json(const run::History& history) {
  Json starts = Json::array();
  for (const run::Start& start : history.starts) {
    starts.push_back({{"time", start.time}, {"device", start.device}});
  }
  Json epochs = Json::array();
  for (const run::EpochRecord& epoch : history.epochs) {
    Json json = {{"epoch", epoch.epoch}, {"step", epoch.step}, {"train", score_json(epoch.train)}};
    if (epoch.validation) json["validation"] = score_json(*epoch.validation);
    json["time_seconds"] = epoch.time_seconds;
    epochs.push_back(std::move(json));
  }
  Json json = {{"starts", starts}, {"epochs", epochs}};
  if (!history.test) return json;
  json["test"] = score_json(*history.test);
  json["test"].update(metrics::scores_json(history.test->scores));
  return json;
}

Json model_json(const Member& member) {
  Json weights = Json::array();
  for (const network::TensorSpec& tensor : network::tensors(member.network)) {
    weights.push_back({{"name", tensor.name}, {"shape", tensor.shape}});
  }
  Json json = network_json(member);
  json.update({{"dropout", member.config->model.dropout},
               {"averaged_weights", member.is_averaged},
               {"weights", std::move(weights)}});
  return json;
}

Json progress_json(const Member& member) {
  Json json = {{"epoch", member.position.epoch},
               {"step", member.position.step},
               {"temperature", member.temperature},
               {"best", Json()}};
  if (member.best) {
    json["best"] = {{"epoch", member.best->epoch},
                    {"metric", config::to_text(member.config->training.best_metric)},
                    {"value", member.best->value}};
  }
  if (const checkpoint::EpochMetrics& epoch_metrics = member.epoch_metrics;
      epoch_metrics.epoch > 0) {
    json["metrics"] = {{"epoch", epoch_metrics.epoch},
                       {"train", metrics::scores_json(epoch_metrics.train)}};
    if (!epoch_metrics.validation.empty()) {
      json["metrics"]["validation"] = metrics::scores_json(epoch_metrics.validation);
    }
  }
  return json;
}

std::string columns_text(const std::vector<data::Column>& columns) {
  std::vector<std::string> counts;
  for (std::size_t i = 0; i < enum_names<data::ColumnKind>().size(); ++i) {
    const auto kind = static_cast<data::ColumnKind>(i);
    const auto count = std::count_if(columns.begin(), columns.end(),
                                     [&](const data::Column& c) { return c.kind == kind; });
    if (count > 0) counts.push_back(fmt::format("{} {}", with_thousands(count), kind_text(kind)));
  }
  return fmt::format("{}", fmt::join(counts, ", "));
}

bool is_best_epoch(const Model& model, int64_t epoch) {
  const std::optional<checkpoint::Best>& best = model.members.front().best;
  return best && best->epoch == epoch;
}

/// The indices of the first epochs, the last ones and the best; -1 marks epochs that are left out.
std::vector<int64_t> shown_epochs(const run::History& history, const Model& model) {
  constexpr int64_t kFirst = 3;
  constexpr int64_t kLast = 7;
  const auto count = static_cast<int64_t>(history.epochs.size());
  std::vector<int64_t> shown;
  for (int64_t i = 0; i < count; ++i) {
    const bool is_best = is_best_epoch(model, history.epochs[static_cast<std::size_t>(i)].epoch);
    if (i < kFirst || i >= count - kLast || is_best || count <= kFirst + kLast + 2) {
      shown.push_back(i);
    } else if (shown.back() != -1) {
      shown.push_back(-1);
    }
  }
  return shown;
}

/// Describes a property of a member in lines, of which the first stands beside the label.
using DescribeMember = std::function<std::vector<std::string>(const Member&)>;

/// Shows a property once if it is the same for all members, else once for each different
/// description with the numbers of its members.
void show_for_members(const Model& model, const std::string& label, const DescribeMember& describe,
                      Document& document) {
  // The different descriptions, each with the numbers of its members, counted from 1.
  std::vector<std::pair<std::vector<std::string>, std::vector<std::size_t>>> kinds;
  for (std::size_t i = 0; i < model.members.size(); ++i) {
    std::vector<std::string> text = describe(model.members[i]);
    const auto same = std::find_if(kinds.begin(), kinds.end(),
                                   [&](const auto& kind) { return kind.first == text; });
    if (same != kinds.end()) {
      same->second.push_back(i + 1);
    } else {
      kinds.emplace_back(std::move(text), std::vector{i + 1});
    }
  }
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const auto& [text, numbers] = kinds[k];
    const std::string of = kinds.size() == 1
                               ? ""
                               : fmt::format("{} {}: ", numbers.size() == 1 ? "member" : "members",
                                             fmt::join(numbers, ", "));
    document.line(k == 0 ? label : "", of + text.front());
    for (std::size_t i = 1; i < text.size(); ++i) document.line("", text[i]);
  }
}

std::vector<std::string> network_lines(const Member& member) {
  std::vector<std::string> lines = network::layer_lines(member.network);
  lines.insert(lines.begin(), fmt::format("{} parameters{}",
                                          with_thousands(network::num_parameters(member.network)),
                                          member.is_averaged ? ", averaged weights (EMA)" : ""));
  return lines;
}

std::vector<std::string> training_lines(const Member& member) {
  const auto value = [&](const char* key) { return config::value_text(key, *member.config); };
  return {fmt::format("{}, learning rate {} ({}), batch size {}", value("training.optimizer.name"),
                      value("training.learning_rate"), value("training.schedule.name"),
                      value("training.batch_size"))};
}

void show_columns(const data::Schema& schema, Document& document) {
  if (schema.columns.empty()) {
    document.line("features", fmt::format("{}: {}", with_thousands(schema.num_features()),
                                          quoted_list(schema.feature_names)));
    return;
  }
  document.line("columns", columns_text(schema.columns));
  for (std::size_t i = 0; i < schema.columns.size() && i < kMaxLines; ++i) {
    const data::Column& column = schema.columns[i];
    document.line("", fmt::format("{}: {}", in_quotes(column.name), column_text(column)));
  }
  if (schema.columns.size() > kMaxLines) {
    document.line(
        "", fmt::format("and {} more; see --json",
                        with_thousands(static_cast<int64_t>(schema.columns.size() - kMaxLines))));
  }
}

Table epoch_table(const Inspection& inspection) {
  const run::History& history = *inspection.history;
  const bool has_accuracy = history.epochs.front().train.accuracy.has_value();
  Table table({{"", "epoch"},
               {"", "train loss"},
               {.key = "", .title = "accuracy", .is_shown = has_accuracy},
               {"", "val loss"},
               {.key = "", .title = "accuracy", .is_shown = has_accuracy},
               {"", "time"},
               {"", "", Align::kLeft}});
  const auto loss = [](const run::EpochSummary& of) {
    return of.loss ? metrics::loss_text(*of.loss) : "not finite";
  };
  const auto accuracy = [](const run::EpochSummary& of) {
    return of.accuracy ? fmt::format("{:.2f} %", 100 * *of.accuracy) : "";
  };
  for (const int64_t i : shown_epochs(history, inspection.model)) {
    if (i < 0) {
      table.add({"..."});
      continue;
    }
    const run::EpochRecord& epoch = history.epochs[static_cast<std::size_t>(i)];
    const auto& validation = epoch.validation;
    table.add({std::to_string(epoch.epoch), loss(epoch.train), accuracy(epoch.train),
               validation ? loss(*validation) : "-", validation ? accuracy(*validation) : "",
               human_duration(epoch.time_seconds),
               is_best_epoch(inspection.model, epoch.epoch) ? "best" : ""});
  }
  return table;
}

void add_history(const Inspection& inspection, Document& document) {
  const run::History& history = *inspection.history;
  document.add("run_folder", "run folder", inspection.run.string());
  document.data("history", history_json(history));
  for (const run::Start& start : history.starts) {
    document.line("started", fmt::format("{} on {}", start.time, start.device));
  }
  if (history.epochs.empty()) return;
  std::vector<std::string> scores;
  const run::EpochSummary test = history.test.value_or(run::EpochSummary{});
  for (const metrics::Score& score : test.scores) {
    if (!metrics::is_headline(score.name)) continue;
    scores.push_back(metrics::shown_name(score.name) + " " + metrics::score_text(score));
  }
  if (!scores.empty()) {
    document.line("test", fmt::format("{} (best epoch)", fmt::join(scores, ", ")));
  }
  document.show(epoch_table(inspection));
}

std::string best_text(const Member& member) {
  if (!member.best) return "none yet";
  return fmt::format("{} ({} {})", member.best->epoch,
                     config::value_text("training.best_metric", *member.config),
                     metrics::loss_text(member.best->value));
}

void show_scores(const char* split, const std::vector<metrics::Score>& scores, Document& document) {
  std::vector<std::string> texts;
  texts.reserve(scores.size());
  for (const metrics::Score& score : scores) {
    texts.push_back(metrics::shown_name(score.name) + " " + metrics::score_text(score));
  }
  if (!texts.empty()) document.line("", fmt::format("{}: {}", split, fmt::join(texts, ", ")));
}

void show_epoch_metrics(const Member& member, Document& document) {
  const checkpoint::EpochMetrics& metrics = member.epoch_metrics;
  if (metrics.epoch == 0) return;
  document.line("metrics", fmt::format("of epoch {}", metrics.epoch));
  show_scores("train", metrics.train, document);
  show_scores("validation", metrics.validation, document);
}

void show_temperatures(const Model& model, Document& document) {
  std::vector<std::string> texts;
  for (const Member& member : model.members) {
    if (member.temperature != 1) texts.push_back(fmt::format("{:.4g}", member.temperature));
  }
  if (texts.empty()) return;
  document.line("calibrated", fmt::format("logits divided by the temperature {}", joined(texts)));
}

void show_progress(const Model& model, Document& document) {
  if (model.is_ensemble()) {
    document.line("ensemble",
                  fmt::format("{} members, whose predictions are averaged{}", model.members.size(),
                              model.weights.empty() ? "" : " by weight"));
    for (std::size_t i = 0; i < model.members.size(); ++i) {
      const Member& member = model.members[i];
      const std::string weight =
          model.weights.empty() ? "" : fmt::format("weight {:.1f} %, ", 100 * model.weights[i]);
      document.line(
          "", fmt::format("{}: {}best epoch {}", run::find_run_dir(member.file).filename().string(),
                          weight, best_text(member)));
    }
    return;
  }
  const Member& member = model.members.front();
  document.line("progress",
                fmt::format("epoch {} of {}, step {}", member.position.epoch,
                            model.config().training.epochs, with_thousands(member.position.step)));
  document.line("best epoch", best_text(member));
  show_epoch_metrics(member, document);
}

void add_progress(const Model& model, Json& json) {
  if (!model.is_ensemble()) {
    json.update(progress_json(model.members.front()));
    return;
  }
  for (std::size_t i = 0; i < model.members.size(); ++i) {
    Json entry = {{"checkpoint", model.members[i].file.string()}};
    if (!model.weights.empty()) entry["weight"] = model.weights[i];
    entry.update(progress_json(model.members[i]));
    json["members"].push_back(std::move(entry));
  }
}

/// The progress of each member, and the network once for all members or for each of them.
Json members_json(const Model& model) {
  Json json = Json::object();
  add_progress(model, json);
  add_model_json(model, model_json, json);
  return json;
}

void add_task(const Model& model, Document& document) {
  const data::Schema& schema = model.schema;
  const bool is_regression = schema.task == config::Task::kRegression;
  document.add("task", "task",
               {config::to_text(schema.task),
                is_regression ? fmt::format("regression, {} {}",
                                            schema.target_names.size() == 1 ? "target" : "targets",
                                            quoted_list(schema.target_names))
                              : fmt::format("classification, target {}, {} classes: {}",
                                            quoted_list(schema.target_names),
                                            with_thousands(std::ssize(schema.labels)),
                                            quoted_list(schema.labels))});
  document.data("target_names", schema.target_names);
  document.data("labels", schema.labels);
}

void add_columns(const Model& model, Document& document) {
  const data::Schema& schema = model.schema;
  const std::string method = config::to_text(model.config().data.scaling);
  document.data("feature_names", schema.feature_names);
  Json columns = Json::array();
  for (const data::Column& column : schema.columns) columns.push_back(inspected_column(column));
  document.data("columns", std::move(columns));
  Json scaling = {{"method", method}};
  scaling.update(scaling_json(schema.scaling));
  document.data("feature_scaling", std::move(scaling));
  document.line("scaling", config::value_text("data.scaling", model.config()));
  show_columns(schema, document);
}

void add_data_files(const Model& model, Document& document) {
  Json files = Json::array();
  for (const data::Fingerprint& file : model.fingerprints) {
    document.line("data file", fmt::format("{}: {}", file.path, data::content_text(file)));
    files.push_back({{"path", file.path},
                     {"num_bytes", file.num_bytes},
                     {"crc32", fmt::format("{:08x}", file.crc32)}});
  }
  document.data("data_files", std::move(files));
}

}  // namespace

Inspection inspect(const fs::path& run_or_checkpoint) {
  Inspection inspection{load_model(run_or_checkpoint), {}, {}};
  inspection.run = run::find_run_dir(inspection.model.file);
  if (!inspection.run.empty()) inspection.history = run::read_history(inspection.run);
  return inspection;
}

Document inspection_document(const Inspection& inspection) {
  const Model& model = inspection.model;
  const data::Schema& schema = model.schema;
  std::error_code unknown;
  Document document;
  const std::string size = human_bytes(fs::file_size(model.file, unknown));
  document.add("checkpoint", "file",
               {model.file.string(), fmt::format("{} ({})", model.file.string(), size)});
  document.add("trainer_version", "written by",
               {model.trainer_version, "trainer " + model.trainer_version});
  const Json members = members_json(model);
  for (const auto& [key, value] : members.items()) document.data(key, value);
  show_progress(model, document);
  show_temperatures(model, document);
  add_task(model, document);
  show_for_members(model, "model", network_lines, document);
  document.add("loss", "loss", config::to_text(model.loss));
  show_for_members(model, "training", training_lines, document);
  add_columns(model, document);
  add_data_files(model, document);
  if (!schema.columns.empty()) document.data("missing", schema.missing);
  if (schema.task == config::Task::kRegression) {
    document.data("target_scaling", target_scaling_json(schema));
  }
  if (inspection.history) add_history(inspection, document);
  return document;
}

}  // namespace trainer::apply
