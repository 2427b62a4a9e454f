// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/apply/predictor.h"
#include "trainer/archive/safetensors.h"
#include "trainer/config/fields.h"
#include "trainer/core/philox.h"
#include "trainer/core/version.h"

namespace trainer::apply {
namespace {

using nlohmann::ordered_json;

bool is_regression(const Model& model) { return model.schema.task == config::Task::kRegression; }

const char* kind_name(data::ColumnKind kind) {
  switch (kind) {
    case data::ColumnKind::kNumeric:
      return "numeric";
    case data::ColumnKind::kCategorical:
      return "categorical";
    case data::ColumnKind::kId:
      return "id";
    case data::ColumnKind::kLeftOut:
      return "left out";
  }
  return "";
}

ordered_json columns_json(const data::Schema& schema) {
  ordered_json columns = ordered_json::array();
  for (const data::Column& column : schema.columns) {
    ordered_json entry = {{"name", column.name}, {"kind", kind_name(column.kind)}};
    if (column.fill) entry["fill"] = *column.fill;
    if (column.kind == data::ColumnKind::kCategorical) entry["categories"] = column.categories;
    if (data::num_features(column) > 0) entry["marks_missing"] = column.marks_missing;
    if (data::is_embedded(column)) entry["embedding_size"] = column.embedding_size;
    if (!column.quantiles.empty()) entry["quantiles"] = column.quantiles;
    columns.push_back(std::move(entry));
  }
  return columns;
}

// Names that a checkpoint of another machine brought may hold any bytes.
std::string text_of(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// Rows of each embedding: one a category, and the last one.
std::vector<std::size_t> table_sizes(const data::Schema& schema) {
  std::vector<std::size_t> sizes;
  for (const data::Column& column : schema.columns) {
    if (data::is_embedded(column)) sizes.push_back(column.categories.size() + 1);
  }
  return sizes;
}

ordered_json scaling_json(const data::Scaling& scaling) {
  return {{"shift", scaling.shift}, {"scale", scaling.scale}};
}

ordered_json network_json(const Model& model) {
  return {{"num_features", model.options.num_features},
          {"hidden_sizes", model.options.hidden_sizes},
          {"num_outputs", model.options.num_outputs},
          {"activation", config::value_text("model.activation", model.config)},
          {"norm", config::value_text("model.norm", model.config)},
          {"residual", model.options.residual}};
}

ordered_json description_of(const Model& model) {
  const data::Schema& schema = model.schema;
  ordered_json description = {{"producer", "trainer " + build_info().version},
                              {"checkpoint", model.file.filename().string()},
                              {"trainer_version", model.trainer_version},
                              {"epoch", model.position.epoch},
                              {"step", model.position.step},
                              {"averaged_weights", model.is_averaged},
                              {"task", is_regression(model) ? "regression" : "classification"},
                              {"loss", loss_name(model.loss)},
                              {"model", network_json(model)},
                              {"feature_names", schema.feature_names},
                              {"target_names", schema.target_names},
                              {"feature_scaling", scaling_json(schema.scaling)}};
  if (!schema.labels.empty()) description["labels"] = schema.labels;
  if (!schema.columns.empty()) description["columns"] = columns_json(schema);
  if (is_regression(model)) description["target_scaling"] = scaling_json(schema.target_scaling);
  return description;
}

}  // namespace

std::string output_name(const Model& model, ExportOutputs outputs) {
  if (is_regression(model)) return "predictions";
  return outputs == ExportOutputs::kProbabilities ? "probabilities" : "logits";
}

int64_t output_width(const Model& model, ExportOutputs outputs) {
  return outputs == ExportOutputs::kProbabilities && !is_regression(model)
             ? static_cast<int64_t>(model.schema.labels.size())
             : model.options.num_outputs;
}

int64_t num_embeddings(const data::Schema& schema) {
  return std::count_if(schema.columns.begin(), schema.columns.end(), data::is_embedded);
}

std::string export_description(const Model& model) { return text_of(description_of(model)); }

std::vector<std::pair<std::string, std::string>> export_metadata(const Model& model) {
  // By way of its text, in which all bytes are UTF-8.
  const ordered_json description = ordered_json::parse(export_description(model));
  std::vector<std::pair<std::string, std::string>> metadata;
  metadata.reserve(description.size());
  for (const auto& [name, value] : description.items()) {
    metadata.emplace_back(name, value.is_string() ? value.get<std::string>() : text_of(value));
  }
  return metadata;
}

data::Matrix made_up_features(const Model& model, int64_t num_rows) {
  const data::Scaling& scaling = model.schema.scaling;
  PhiloxStream random(/*seed=*/1, Purpose::kSynthetic);
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(num_rows) * scaling.shift.size());
  const std::vector<std::size_t> tables = table_sizes(model.schema);
  const std::size_t num_plain = scaling.shift.size() - tables.size();
  for (int64_t row = 0; row < num_rows; ++row) {
    for (std::size_t i = 0; i < num_plain; ++i) {
      values.push_back(static_cast<float>(scaling.shift[i] + random.normal() / scaling.scale[i]));
    }
    for (const std::size_t size : tables) values.push_back(static_cast<float>(random.below(size)));
  }
  return {num_rows, static_cast<int64_t>(scaling.shift.size()), std::move(values)};
}

std::vector<float> expected_outputs(const Model& model, const data::Matrix& features,
                                    ExportOutputs outputs) {
  std::vector<float> scores;
  Predictor(model, /*num_threads=*/1).predict(features, scores);
  if (is_regression(model)) return predicted_values(model, scores);
  return outputs == ExportOutputs::kProbabilities ? probabilities(model, scores) : scores;
}

ExportReport export_safetensors(const Model& model, const std::filesystem::path& path) {
  archive::Safetensors content;
  content.tensors.reserve(model.weights.size());
  for (const checkpoint::NamedTensor& weight : model.weights) {
    content.tensors.emplace_back(weight.name, weight.tensor);
  }
  content.metadata = export_metadata(model);
  content.metadata.insert(content.metadata.begin(), {"format", "pt"});  // whose layout tensors have
  archive::write_safetensors(path, content);
  return {.format = "safetensors",
          .inputs = {},
          .outputs = {},
          .checked = "read again, the same to the byte"};
}

}  // namespace trainer::apply
