// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "trainer/apply/predictor.h"
#include "trainer/archive/safetensors.h"
#include "trainer/config/fields.h"
#include "trainer/core/philox.h"
#include "trainer/core/version.h"

#include "apply/scaling_json.h"

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
    const auto in_file_units = [&](float number) { return data::in_file_units(column, number); };
    if (column.offset != 0) entry["offset"] = column.offset;
    if (column.fill) entry["fill"] = in_file_units(*column.fill);
    if (column.limits) {
      entry["limits"] = {in_file_units(column.limits->low), in_file_units(column.limits->high)};
    }
    if (column.kind == data::ColumnKind::kCategorical) entry["categories"] = column.categories;
    if (data::num_features(column) > 0) entry["marks_missing"] = column.marks_missing;
    if (data::is_embedded(column)) {
      entry["embedding_size"] = column.embedding_size;
      entry["unknown_number"] = column.categories.size();
    }
    for (const float quantile : column.quantiles) {
      entry["quantiles"].push_back(in_file_units(quantile));
    }
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

ordered_json network_json(const Model& model) {
  return {{"num_features", model.network.num_features},
          {"hidden_sizes", config::hidden_sizes(model.config.model)},
          {"num_outputs", model.network.num_outputs},
          {"activation", config::to_text(model.config.model.activation)},
          {"norm", config::to_text(model.config.model.norm)},
          {"residual", model.config.model.residual}};
}

ordered_json description_of(const Model& model) {
  const data::Schema& schema = model.schema;
  ordered_json description = {{"producer", "trainer " + build_info().version},
                              {"checkpoint", model.file.filename().string()},
                              {"trainer_version", model.trainer_version},
                              {"epoch", model.position.epoch},
                              {"step", model.position.step},
                              {"averaged_weights", model.is_averaged},
                              {"task", config::to_text(model.schema.task)},
                              {"loss", config::to_text(model.loss)},
                              {"model", network_json(model)},
                              {"feature_names", schema.feature_names},
                              {"target_names", schema.target_names},
                              {"feature_scaling", scaling_json(schema.scaling)}};
  if (!schema.labels.empty()) description["labels"] = schema.labels;
  if (!schema.columns.empty()) {
    description["columns"] = columns_json(schema);
    description["missing"] = schema.missing;
  }
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
             : model.network.num_outputs;
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
      const auto value = static_cast<float>(scaling.shift[i] + random.normal() / scaling.scale[i]);
      // What is left of a number of a file when its offset is subtracted.
      const double offset = scaling.offset_of(i);
      values.push_back(static_cast<float>(value + offset - offset));
    }
    for (const std::size_t size : tables) values.push_back(static_cast<float>(random.below(size)));
  }
  return {num_rows, static_cast<int64_t>(scaling.shift.size()), std::move(values)};
}

std::vector<double> in_file_units(const Model& model, const data::Matrix& features) {
  const auto& values = std::get<std::vector<float>>(features.values);
  std::vector<double> numbers(values.begin(), values.end());
  const data::Scaling& scaling = model.schema.scaling;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] += scaling.offset_of(i % scaling.shift.size());
  }
  return numbers;
}

namespace {

// An exported model takes features that are beyond them too.
data::Matrix within_limits(const data::Schema& schema, data::Matrix features) {
  const FeatureLimits limits = feature_limits(schema);
  if (limits.low.empty()) return features;
  auto& values = std::get<std::vector<float>>(features.values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t feature = i % limits.low.size();
    values[i] = data::limited(values[i], {limits.low[feature], limits.high[feature]});
  }
  return features;
}

}  // namespace

std::vector<double> expected_outputs(const Model& model, const data::Matrix& features,
                                     ExportOutputs outputs) {
  std::vector<float> scores;
  Predictor(model, /*num_threads=*/1).predict(within_limits(model.schema, features), scores);
  if (is_regression(model)) return predicted_values(model, scores);
  if (outputs == ExportOutputs::kProbabilities) scores = probabilities(model, scores);
  return {scores.begin(), scores.end()};
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
