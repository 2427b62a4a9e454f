// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/inspect_json.h"

#include <utility>

#include <fmt/format.h>

#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/core/json.h"

#include "apply/model_json.h"

namespace trainer::apply {
namespace {

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
  for (const metrics::Score& score : history.test->scores) json["test"][score.name] = score.value;
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

Json scores_json(const std::vector<metrics::Score>& scores) {
  Json json = Json::object();
  for (const metrics::Score& score : scores) json[score.name] = score.value;
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
  if (const checkpoint::EpochMetrics& metrics = member.epoch_metrics; metrics.epoch > 0) {
    json["metrics"] = {{"epoch", metrics.epoch}, {"train", scores_json(metrics.train)}};
    if (!metrics.validation.empty()) {
      json["metrics"]["validation"] = scores_json(metrics.validation);
    }
  }
  return json;
}

void add_progress(const Model& model, Json& json) {
  if (!model.is_ensemble()) {
    json.update(progress_json(model.members.front()));
    return;
  }
  for (const Member& member : model.members) {
    Json entry = {{"checkpoint", member.file.string()}};
    entry.update(progress_json(member));
    json["members"].push_back(std::move(entry));
  }
}

}  // namespace

std::string inspection_json(const Inspection& inspection) {
  const Model& model = inspection.model;
  const data::Schema& schema = model.schema;
  Json columns = Json::array();
  for (const data::Column& column : schema.columns) columns.push_back(inspected_column(column));
  Json files = Json::array();
  for (const data::Fingerprint& file : model.fingerprints) {
    files.push_back({{"path", file.path},
                     {"num_bytes", file.num_bytes},
                     {"crc32", fmt::format("{:08x}", file.crc32)}});
  }
  Json json = {{"checkpoint", model.file.string()}, {"trainer_version", model.trainer_version}};
  add_progress(model, json);
  add_model_json(model, model_json, json);
  json.update({{"task", config::to_text(schema.task)},
               {"target_names", schema.target_names},
               {"labels", schema.labels},
               {"loss", config::to_text(model.loss)},
               {"feature_names", schema.feature_names},
               {"columns", columns},
               {"feature_scaling", {{"method", config::to_text(model.config().data.scaling)}}},
               {"data_files", files}});
  if (!schema.columns.empty()) json["missing"] = schema.missing;
  json["feature_scaling"].update(scaling_json(schema.scaling));
  if (schema.task == config::Task::kRegression) {
    json["target_scaling"] = target_scaling_json(schema);
  }
  if (inspection.history) {
    json["run_folder"] = inspection.run.string();
    json["history"] = history_json(*inspection.history);
  }
  // A text of the data may be no UTF-8 in files of older versions.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trainer::apply
