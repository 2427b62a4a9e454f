// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/schema_format.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "trainer/table/source/csv_format.h"

namespace trainer::data {
namespace {

using archive::Dict;
using archive::List;
using archive::TensorData;
using archive::Value;

constexpr int64_t kMaxEmbeddingSize = 1 << 12;  // the bound of data.embedding_size

TensorData float_tensor(const std::vector<float>& values) {
  auto owner = std::make_shared<const std::vector<float>>(values);
  TensorData tensor;
  tensor.shape = {static_cast<int64_t>(owner->size())};
  tensor.data = reinterpret_cast<const std::byte*>(owner->data());
  tensor.owner = owner;
  return tensor;
}

TensorData double_tensor(const std::vector<double>& values) {
  auto owner = std::make_shared<const std::vector<double>>(values);
  TensorData tensor;
  tensor.dtype = archive::DType::kFloat64;
  tensor.shape = {static_cast<int64_t>(owner->size())};
  tensor.data = reinterpret_cast<const std::byte*>(owner->data());
  tensor.owner = owner;
  return tensor;
}

List text_list(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

Value fill_value(const Column& column) {
  if (!column.fill) return {};
  return {static_cast<double>(*column.fill)};
}

Dict profile_dict(const Column& column) {
  const ColumnProfile& profile = column.profile;
  Dict dict{{"rows", profile.num_rows},
            {"missing", profile.missing},
            {"shares", float_tensor(profile.shares)}};
  if (column.kind == ColumnKind::kNumeric) {
    dict.emplace_back("range", float_tensor({profile.low, profile.high}));
    dict.emplace_back("edges", float_tensor(profile.edges));
  }
  return dict;
}

ColumnProfile read_profile(const archive::DictReader& reader, const Column& column) {
  const bool is_numeric = column.kind == ColumnKind::kNumeric;
  ColumnProfile profile;
  profile.num_rows = reader.count("rows");
  profile.missing = reader.finite_number("missing");
  if (is_numeric) {
    const std::vector<float> range = reader.floats("range", 2);
    profile.low = range[0];
    profile.high = range[1];
    profile.edges = reader.floats("edges");
  }
  profile.shares =
      reader.floats("shares", is_numeric ? profile.edges.size() + 1 : column.categories.size());
  return profile;
}

List column_list(const std::vector<Column>& columns) {
  List list;
  for (const Column& column : columns) {
    Dict entry{{"name", column.name},
               {"kind", to_text(column.kind)},
               {"is_declared", column.is_declared},
               {"reason", column.reason},
               {"fill", fill_value(column)},
               {"categories", text_list(column.categories)},
               {"marks_missing", column.has_missing_indicator},
               {"embedding_size", column.embedding_size},
               {"quantiles", float_tensor(column.quantiles)}};
    if (column.offset != 0) entry.emplace_back("offset", column.offset);
    if (!column.source.empty()) {
      entry.emplace_back("source", column.source);
      entry.emplace_back("date_part", to_text(column.date_part));
      if (column.date_order != config::DateOrder::kYearFirst) {
        entry.emplace_back("date_order", to_text(column.date_order));
      }
    }
    if (!column.unit.empty()) entry.emplace_back("unit", column.unit);
    if (column.is_sign) entry.emplace_back("is_sign", true);
    if (column.quantile_score == QuantileScore::kNormal) {
      entry.emplace_back("normal_scores", true);
    }
    if (column.limits) {
      entry.emplace_back("limits", float_tensor({column.limits->low, column.limits->high}));
    }
    if (column.profile.num_rows > 0) entry.emplace_back("profile", profile_dict(column));
    list.emplace_back(std::move(entry));
  }
  return list;
}

Column read_column(const archive::DictReader& reader, int64_t version) {
  Column column{reader.text("name")};
  column.kind = reader.choice<ColumnKind>("kind");
  column.is_declared = reader.get<bool>("is_declared", "bool");
  column.reason = reader.text("reason");
  if (reader.value("fill").get_if<std::monostate>() == nullptr) {
    column.fill = static_cast<float>(reader.number("fill"));
  }
  column.categories = reader.texts("categories");
  column.has_missing_indicator = reader.get<bool>("marks_missing", "bool");
  if (version >= 4) {
    column.embedding_size = reader.count("embedding_size");
    if (column.embedding_size > kMaxEmbeddingSize) {
      reader.refuse("embedding_size", fmt::format("expected an integer from 0 to {}, got {}",
                                                  kMaxEmbeddingSize, column.embedding_size));
    }
    column.quantiles = reader.floats("quantiles");
  }
  if (reader.has("offset")) column.offset = reader.finite_number("offset");
  if (reader.has("source")) {
    column.source = reader.text("source");
    column.date_part = reader.choice<config::DatePart>("date_part");
    if (reader.has("date_order")) {
      column.date_order = reader.choice<config::DateOrder>("date_order");
    }
  }
  if (reader.has("unit")) column.unit = reader.text("unit");
  if (!column.unit.empty() && column.unit.find('#') == std::string::npos) {
    reader.refuse("unit", "expected a # in place of the number");
  }
  if (reader.has("is_sign")) column.is_sign = reader.get<bool>("is_sign", "bool");
  if (column.is_sign && column.categories.size() != 2) {
    reader.refuse("is_sign", "expected a column with two categories");
  }
  if (reader.has("normal_scores") && reader.get<bool>("normal_scores", "bool")) {
    column.quantile_score = QuantileScore::kNormal;
  }
  if (reader.has("limits")) {
    const std::vector<float> limits = reader.floats("limits", 2);
    column.limits = Limits{.low = limits[0], .high = limits[1]};
  }
  if (reader.has("profile")) column.profile = read_profile(reader.section("profile"), column);
  return column;
}

// Reads the means of the targets, an entry that files of the same format version may lack.
std::vector<double> read_target_means(const archive::DictReader& reader, std::size_t size) {
  std::vector<double> means;
  if (archive::find(reader.dict(), "target_means") == nullptr) return means;
  for (const Value& value : reader.list("target_means")) {
    const auto* mean = value.get_if<double>();
    if (mean == nullptr || !std::isfinite(*mean)) {
      reader.refuse("target_means", "expected a list of finite numbers");
    }
    means.push_back(*mean);
  }
  if (!means.empty() && means.size() != size) {
    reader.refuse("target_means", fmt::format("expected {} numbers, got {}", size, means.size()));
  }
  return means;
}

void read_columns(const archive::DictReader& reader, int64_t version, Schema& schema) {
  if (version < 3) {
    for (const std::string& name : schema.feature_names) schema.columns.push_back({name});
    return;
  }
  for (const Value& value : reader.list("columns")) {
    schema.columns.push_back(read_column(reader.element("columns", value), version));
  }
  schema.unknown_category = reader.choice<config::UnknownCategory>("unknown_category");
  if (!schema.columns.empty() && feature_names(schema.columns) != schema.feature_names) {
    reader.refuse("columns", "they do not match schema.feature_names");
  }
}

// Before format version 4, targets were not scaled.
void read_target_scaling(const archive::DictReader& reader, int64_t version, Schema& schema) {
  const bool is_scaled = schema.task == config::Task::kRegression;
  const std::size_t size = is_scaled ? schema.target_names.size() : 0;
  schema.target_scaling = {std::vector<float>(size, 0.0F), std::vector<float>(size, 1.0F)};
  if (version < 4) return;
  schema.target_scaling.shift = reader.floats("target_shift", size);
  schema.target_scaling.scale = reader.floats("target_scale", size);
  if (!reader.has("target_low")) return;
  schema.target_low = reader.floats("target_low", size);
  schema.target_high = reader.floats("target_high", size);
}

std::vector<double> read_offsets(const archive::DictReader& reader, const char* key,
                                 std::size_t size) {
  return reader.has(key) ? reader.doubles(key, size) : std::vector<double>();
}

}  // namespace

int64_t format_version(const Schema& schema) {
  // Older programs would ignore these properties, and so predict something else.
  if (std::any_of(schema.columns.begin(), schema.columns.end(),
                  [](const Column& column) { return !column.source.empty(); })) {
    return kFormatVersion;
  }
  const bool has_offsets_or_limits =
      !schema.scaling.offset.empty() || !schema.target_scaling.offset.empty() ||
      std::any_of(schema.columns.begin(), schema.columns.end(),
                  [](const Column& column) { return column.offset != 0 || column.limits; });
  return has_offsets_or_limits ? 5 : 4;
}

Dict to_dict(const Schema& schema) {
  Dict dict = {{"task", config::to_text(schema.task)},
               {"feature_names", text_list(schema.feature_names)},
               {"target_names", text_list(schema.target_names)},
               {"target_shift", float_tensor(schema.target_scaling.shift)},
               {"target_scale", float_tensor(schema.target_scaling.scale)},
               {"target_means", List(schema.target_means.begin(), schema.target_means.end())},
               {"labels", text_list(schema.labels)},
               {"shift", float_tensor(schema.scaling.shift)},
               {"scale", float_tensor(schema.scaling.scale)},
               {"columns", column_list(schema.columns)},
               {"missing", text_list(schema.missing)},
               {"unknown_category", to_text(schema.unknown_category)}};
  const auto add_offset = [&](const char* name, const std::vector<double>& offset) {
    if (!offset.empty()) dict.emplace_back(name, double_tensor(offset));
  };
  if (!schema.target_low.empty()) {
    dict.emplace_back("target_low", float_tensor(schema.target_low));
    dict.emplace_back("target_high", float_tensor(schema.target_high));
  }
  add_offset("offset", schema.scaling.offset);
  if (!schema.scaling.inverse_limit.empty()) {
    dict.emplace_back("inverse_limit", float_tensor(schema.scaling.inverse_limit));
  }
  add_offset("target_offset", schema.target_scaling.offset);
  return dict;
}

Schema read_schema(const archive::DictReader& reader, int64_t version) {
  Schema schema;
  const std::string& task = reader.text("task");
  schema.task = config::from_text<config::Task>(task).value_or(config::Task::kAuto);
  if (schema.task == config::Task::kAuto) {
    reader.refuse("task", fmt::format("expected classification or regression, got \"{}\"", task));
  }
  schema.feature_names = reader.texts("feature_names");
  if (version < 4) {
    schema.target_names = {reader.text("target_name")};
  } else {
    schema.target_names = reader.texts("target_names");
  }
  schema.labels = reader.texts("labels");
  schema.scaling.shift = reader.floats("shift", schema.feature_names.size());
  schema.scaling.scale = reader.floats("scale", schema.feature_names.size());
  read_target_scaling(reader, version, schema);
  const bool has_classes = schema.task == config::Task::kClassification;
  schema.target_means =
      read_target_means(reader, has_classes ? schema.labels.size() : schema.target_names.size());
  read_columns(reader, version, schema);
  const bool has_missing = archive::find(reader.dict(), "missing") != nullptr;
  schema.missing = has_missing ? reader.texts("missing") : former_missing_texts();
  schema.scaling.offset = read_offsets(reader, "offset", schema.feature_names.size());
  if (reader.has("inverse_limit")) {
    schema.scaling.inverse_limit = reader.floats("inverse_limit", schema.feature_names.size());
  }
  schema.target_scaling.offset =
      read_offsets(reader, "target_offset", schema.target_scaling.shift.size());
  if (!schema.columns.empty() && feature_offsets(schema.columns) != schema.scaling.offset) {
    reader.refuse("offset", "it does not match that of the columns");
  }
  return schema;
}

}  // namespace trainer::data
