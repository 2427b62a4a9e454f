// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export.h"

#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "trainer/base/archive/safetensors.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/version.h"
#include "trainer/table/schema/column.h"

#include "apply/model.h"

namespace trainer::apply {
namespace {

bool is_regression(const Model& model) { return model.schema.task == config::Task::kRegression; }

}  // namespace

std::string member_prefix(const Model& model, std::size_t member) {
  return model.is_ensemble() ? fmt::format("members.{}.", member) : "";
}

std::string output_name(const Model& model, ExportOutputs outputs) {
  if (is_regression(model)) return "predictions";
  return outputs == ExportOutputs::kProbabilities ? "probabilities" : "logits";
}

int64_t output_width(const Model& model, ExportOutputs outputs) {
  return outputs == ExportOutputs::kProbabilities && !is_regression(model)
             ? static_cast<int64_t>(model.schema.labels.size())
             : model.num_outputs();
}

std::vector<std::string> interval_names(const Model& model) {
  if (!model.conformal) return {};
  if (is_regression(model)) return {"lower", "upper"};
  return {"set"};
}

bool takes_doubles(const data::Schema& schema) { return !schema.scaling.offset.empty(); }

bool gives_doubles(const data::Schema& schema) { return !schema.target_scaling.offset.empty(); }

FeatureLimits feature_limits(const data::Schema& schema) {
  FeatureLimits limits;
  const auto num_features = static_cast<std::size_t>(schema.num_features());
  const std::vector<int64_t> first = data::first_features(schema.columns);
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const data::Column& column = schema.columns[i];
    if (!column.limits || !column.quantiles.empty()) continue;
    limits.low.resize(num_features, -std::numeric_limits<float>::max());
    limits.high.resize(num_features, std::numeric_limits<float>::max());
    limits.low[static_cast<std::size_t>(first[i])] = column.limits->low;
    limits.high[static_cast<std::size_t>(first[i])] = column.limits->high;
  }
  return limits;
}

void check_num_weights(const Model& model, std::string_view what) {
  constexpr std::size_t kMaxNumbers = 10'000'000;  // compilers and browsers take minutes for more
  std::size_t num_numbers = 0;
  for (const Member& member : model.members) {
    for (const checkpoint::NamedTensor& weight : member.weights) {
      num_numbers += weight.tensor.num_bytes() / sizeof(float);
    }
  }
  if (num_numbers <= kMaxNumbers) return;
  throw Error(ErrorKind::kRuntime,
              fmt::format("{}: {} is limited to {} weights, the model has {}; use --format onnx or "
                          "safetensors",
                          model.file.string(), what, with_thousands(kMaxNumbers),
                          with_thousands(static_cast<int64_t>(num_numbers))));
}

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
    if (!model.weights.empty()) description["weights"] = model.weights;
  } else {
    description.update(member_json(model.members.front()));
  }
  add_model_json(model, network_json, description);
  if (!schema.labels.empty()) description["labels"] = schema.labels;
  if (!schema.columns.empty()) {
    description["columns"] = exported_columns(schema);
    description["missing"] = schema.missing;
  }
  if (model.conformal) {
    description["interval"] = {
        {"coverage", model.conformal->coverage},
        {"rows", model.conformal->num_rows},
        {is_regression(model) ? "distances" : "lowest_probability", model.conformal->bounds}};
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

ExportReport export_safetensors(const Model& model, const std::filesystem::path& path) {
  archive::Safetensors content;
  for (std::size_t i = 0; i < model.members.size(); ++i) {
    for (const checkpoint::NamedTensor& weight : model.members[i].weights) {
      content.tensors.emplace_back(member_prefix(model, i) + weight.name, weight.tensor);
    }
  }
  content.metadata = export_metadata(model);
  // Tells loaders that the tensors have the layout of PyTorch.
  content.metadata.insert(content.metadata.begin(), {"format", "pt"});
  archive::write_safetensors(path, content);
  return {.format = "safetensors",
          .inputs = {},
          .outputs = {},
          .checked = {"read back, identical byte for byte"}};
}

}  // namespace trainer::apply
