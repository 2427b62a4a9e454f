// SPDX-License-Identifier: Apache-2.0
// The JSON of a page that predicts: what page/predict.js computes with. Arrays of float32 are
// base64, little-endian.
#include "trainer/report/html/model_page.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/cell_texts.h"
#include "trainer/apply/explain/contributions.h"
#include "trainer/apply/explain/explained_rows.h"
#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/version.h"
#include "trainer/nn/spec/layers.h"
#include "trainer/nn/spec/spec.h"
#include "trainer/table/schema/quantiles.h"

#include "report/html/page.h"

namespace trainer::report {
namespace {

using apply::Member;
using apply::Model;
using data::Column;

std::string base64(std::span<const float> values) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::span<const std::byte> bytes = std::as_bytes(values);
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t three = 0;
    for (std::size_t k = i; k < i + 3; ++k) {
      three = three << 8U | (k < bytes.size() ? std::to_integer<uint32_t>(bytes[k]) : 0);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k <= bytes.size() ? kDigits[three >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

/// Sets `kind`, and what the sizes of the tensors do not say.
struct LayerJson {
  Json& json;

  void operator()(const network::Embeddings& layer) const {
    json = {{"kind", "embeddings"}, {"num_numeric", layer.num_numeric}};
    for (const network::EmbeddingTable& table : layer.tables) {
      json["rows"].push_back(table.num_rows);
      json["sizes"].push_back(table.size);
    }
  }
  void operator()(const network::PeriodicEmbedding& layer) const {
    json = {{"kind", "periodic"}, {"features", layer.features}};
  }
  void operator()(const network::PiecewiseEmbedding& layer) const {
    json = {{"kind", "piecewise"}, {"features", layer.features}};
  }
  void operator()(const network::InputScale& layer) const {
    json = {{"kind", "input_scale"}, {"members", layer.num_members}};
  }
  void operator()(const network::Linear& layer) const {
    json = {{"kind", "linear"}, {"members", layer.num_members}};
  }
  void operator()(const network::BatchNorm& /*layer*/) const { json["kind"] = "batch_norm"; }
  void operator()(const network::LayerNorm& /*layer*/) const { json["kind"] = "layer_norm"; }
  void operator()(const network::Activation& layer) const {
    json = {{"kind", "activation"}, {"name", to_text(layer.function)}};
  }
  void operator()(const network::Dropout& /*layer*/) const { json["kind"] = "dropout"; }
  void operator()(const network::ResidualBegin& /*layer*/) const {
    json["kind"] = "residual_begin";
  }
  void operator()(const network::ResidualEnd& /*layer*/) const { json["kind"] = "residual_end"; }
  void operator()(const network::MemberMean& layer) const {
    const bool is_of_numbers = layer.mean == network::Mean::kOfNumbers;
    json = {{"kind", "member_mean"}, {"is_of_numbers", is_of_numbers}};
  }
};

// The layers with their tensors, each under the last part of its name; all tables of embeddings are
// one array.
Json layers_json(const Member& member) {
  Json layers = Json::array();
  for (const network::Layer& layer : member.network.layers) {
    std::map<std::string, std::vector<float>> tensors;
    for (const auto& specs : {network::parameters(layer), network::buffers(layer)}) {
      for (const network::TensorSpec& spec : specs) {
        const std::span<const float> values = apply::weight_values(member, spec.name);
        std::vector<float>& all = tensors[spec.name.substr(spec.name.rfind('.') + 1)];
        all.insert(all.end(), values.begin(), values.end());
      }
    }
    Json& json = layers.emplace_back();
    std::visit(LayerJson{json}, layer);
    json["packed"] = Json::array();
    for (const auto& [name, values] : tensors) {
      json["packed"].push_back(name);
      json[name] = base64(values);
    }
  }
  return layers;
}

/// The value that half of the training rows do not exceed.
float median(const data::ColumnProfile& profile) {
  double below = 0;
  for (std::size_t i = 0; i < profile.edges.size(); ++i) {
    below += static_cast<double>(profile.shares[i]);
    if (below >= 0.5) return profile.edges[i];
  }
  return profile.high;
}

/// A numeric column. The scores of its quantiles are those of many columns: `all_scores` has them
/// by their name.
Json number_json(const explain::ColumnPart& part, std::span<const float> baseline,
                 Json& all_scores) {
  const Column& column = part.column;
  const auto in_file = [&](float number) {
    return parse_double(data::text_in_file_units(column, number)).value_or(0);
  };
  Json json = {{"offset", column.offset}, {"unit", column.unit}};
  if (!column.source.empty()) json["date_part"] = to_text(column.date_part);
  if (column.limits) json["limits"] = {column.limits->low, column.limits->high};
  if (column.fill) json["fill"] = *column.fill;
  float start = column.fill.value_or(baseline[static_cast<std::size_t>(part.first_feature)]);
  if (!column.quantiles.empty()) {
    const std::size_t count = column.quantiles.size();
    const std::string name = fmt::format("{} {}", count, static_cast<int>(column.quantile_score));
    const std::span<const double> scores = data::rank_scores(count, column.quantile_score);
    all_scores[name] = std::vector<double>(scores.begin(), scores.end());
    json["quantiles"] = base64(column.quantiles);
    json["scores"] = name;
    start = column.quantiles[count / 2];
  }
  if (column.profile.num_rows > 0) {
    json["range"] = {in_file(column.profile.low), in_file(column.profile.high)};
    start = median(column.profile);
  }
  json["start"] = in_file(start);
  return json;
}

Json category_json(const Column& column) {
  const std::vector<float>& shares = column.profile.shares;
  return {{"categories", column.categories},
          {"is_embedded", data::is_embedded(column)},
          {"is_sign", column.is_sign},
          {"start", std::max_element(shares.begin(), shares.end()) - shares.begin()}};
}

// The schema; data without columns have a numeric one for each feature.
data::Schema with_columns(data::Schema schema) {
  if (!schema.columns.empty()) return schema;
  for (std::size_t i = 0; i < schema.feature_names.size(); ++i) {
    schema.columns.push_back(
        {.name = schema.feature_names[i], .offset = schema.scaling.offset_of(i)});
  }
  return schema;
}

void add_fields(const Model& model, Json& json) {
  constexpr std::size_t kMaxFields = 1'000;
  const std::vector<explain::ColumnGroup> groups =
      explain::column_groups(with_columns(model.schema));
  if (groups.size() > kMaxFields) {
    throw Error(ErrorKind::kRuntime,
                fmt::format("{}: an HTML page is limited to {} columns, the model has {}; use "
                            "--format c or onnx",
                            model.file.string(), with_thousands(kMaxFields),
                            with_thousands(std::ssize(groups))));
  }
  const data::Matrix row = explain::baseline_row(model);
  const std::span<const float> baseline = std::get<Array<float>>(row.values);
  for (const explain::ColumnGroup& group : groups) {
    Json field = {{"name", group.name}, {"features", group.features}};
    for (const explain::ColumnPart& part : group.parts) {
      const bool is_number = part.column.kind == data::ColumnKind::kNumeric;
      Json& added = field["parts"].emplace_back(
          is_number ? number_json(part, baseline, json["scores"]) : category_json(part.column));
      added["first"] = part.first_feature;
      added["missing_indicator"] = part.column.has_missing_indicator;
    }
    json["fields"].push_back(std::move(field));
  }
  json["missing"] = apply::missing_values(model.schema).numbers;
  json["accepts_unknown"] = model.schema.unknown_category == config::UnknownCategory::kUnknown;
  json["baseline"] = base64(baseline);
  json["baseline_text"] = explain::baseline_text(model);
}

void add_outputs(const Model& model, Json& json) {
  const data::Schema& schema = model.schema;
  json["targets"] = schema.target_names;
  json["labels"] = schema.labels;
  json["threshold"] = model.threshold;
  json["num_outputs"] = model.num_outputs();
  if (schema.task == config::Task::kRegression) {
    json["target_scale"] = schema.target_scaling.scale;
    json["target_shift"] = schema.target_scaling.shift;
    for (std::size_t i = 0; i < schema.target_names.size(); ++i) {
      json["target_offset"].push_back(schema.target_scaling.offset_of(i));
    }
  }
  if (!schema.target_low.empty()) {
    json["low"] = schema.target_low;
    json["high"] = schema.target_high;
  }
  if (model.conformal) {
    json["interval"] = {{"coverage", model.conformal->coverage},
                        {"bounds", model.conformal->bounds}};
  }
}

Json page_json(const Model& model) {
  const data::Scaling& scaling = model.schema.scaling;
  Json json = {{"task", to_text(model.schema.task)},
               {"scaling", {{"shift", base64(scaling.shift)}, {"scale", base64(scaling.scale)}}}};
  if (!scaling.inverse_limit.empty()) {
    json["scaling"]["inverse_limit"] = base64(scaling.inverse_limit);
  }
  add_fields(model, json);
  add_outputs(model, json);
  for (const Member& member : model.members) json["members"].push_back(layers_json(member));
  if (!model.weights.empty()) json["weights"] = model.weights;
  json["footer"] = fmt::format("trainer {}, {}, {}", build_info().version,
                               model.file.filename().string(), apply::epoch_text(model));
  return json;
}

}  // namespace

apply::ExportReport export_html(const Model& model, const std::filesystem::path& path) {
  apply::check_num_weights(model, "an HTML page");
  const Json json = page_json(model);
  const std::string title = "Prediction of " + joined(model.schema.target_names);
  write_file_atomically(path, page_html(PageKind::kModel, title,
                                        json.dump(-1, ' ', false, Json::error_handler_t::replace)));
  return {.format = "HTML page", .inputs = {}, .outputs = {}, .checked = {}};
}

}  // namespace trainer::report
