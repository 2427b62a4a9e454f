// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export_metadata.h"

#include "trainer/base/text/json.h"
#include "trainer/base/version.h"

#include "apply/model_json.h"

namespace trainer::apply {
namespace {

Json exported_columns(const data::Schema& schema) {
  Json columns = Json::array();
  for (const data::Column& column : schema.columns) {
    Json entry = column_json(column);
    if (data::is_embedded(column)) entry["unknown_index"] = column.categories.size();
    columns.push_back(std::move(entry));
  }
  return columns;
}

// Names in a checkpoint may have bytes that are not UTF-8: they become the replacement character.
std::string json_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json describe(const Model& model) {
  const data::Schema& schema = model.schema;
  Json description = {{"producer", "trainer " + build_info().version},
                      {"checkpoint", model.file.filename().string()},
                      {"trainer_version", model.trainer_version},
                      {"task", to_text(schema.task)},
                      {"loss", to_text(model.loss)},
                      {"feature_names", schema.feature_names},
                      {"target_names", schema.target_names},
                      {"feature_scaling", scaling_json(schema.scaling)}};
  if (model.is_ensemble()) {
    for (const Member& member : model.members) {
      description["members"].push_back(member_json(member));
    }
  } else {
    description.update(member_json(model.members.front()));
  }
  add_model_json(model, network_json, description);
  if (!schema.labels.empty()) description["labels"] = schema.labels;
  if (!schema.columns.empty()) {
    description["columns"] = exported_columns(schema);
    description["missing"] = schema.missing;
  }
  if (schema.task == config::Task::kRegression) {
    description["target_scaling"] = target_scaling_json(schema);
  }
  return description;
}

}  // namespace

std::string export_description(const Model& model) { return json_text(describe(model)); }

std::vector<std::pair<std::string, std::string>> export_metadata(const Model& model) {
  // Parses the text again because all of its bytes are valid UTF-8.
  const Json description = parse_json(export_description(model));
  std::vector<std::pair<std::string, std::string>> metadata;
  metadata.reserve(description.size());
  for (const auto& [name, value] : description.items()) {
    metadata.emplace_back(name, value.is_string() ? value.get<std::string>() : json_text(value));
  }
  return metadata;
}

}  // namespace trainer::apply
