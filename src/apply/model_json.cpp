// SPDX-License-Identifier: Apache-2.0
#include "apply/model_json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "trainer/base/text/json.h"
#include "trainer/config/config.h"  // IWYU pragma: keep

namespace trainer::apply {

Json column_json(const data::Column& column) {
  const auto in_file_units = [&](float number) { return data::in_file_units(column, number); };
  Json json = {{"name", column.name}, {"kind", to_text(column.kind)}};
  if (!column.source.empty()) {
    json["source"] = column.source;
    json["date_part"] = to_text(column.date_part);
    if (column.date_order != config::DateOrder::kYearFirst) {
      json["date_order"] = to_text(column.date_order);
    }
  }
  if (!column.unit.empty()) json["unit"] = column.unit;
  if (column.offset != 0) json["offset"] = column.offset;
  if (column.fill) json["fill"] = in_file_units(*column.fill);
  if (column.limits) {
    json["limits"] = {in_file_units(column.limits->low), in_file_units(column.limits->high)};
  }
  if (column.kind == data::ColumnKind::kCategorical) json["categories"] = column.categories;
  if (data::num_features(column) > 0) json["missing_indicator"] = column.has_missing_indicator;
  if (data::is_embedded(column)) json["embedding_size"] = column.embedding_size;
  if (column.is_sign) json["sign"] = true;
  if (column.quantile_score == data::QuantileScore::kNormal) json["normal_scores"] = true;
  for (const float quantile : column.quantiles) {
    json["quantiles"].push_back(in_file_units(quantile));
  }
  return json;
}

Json network_json(const Member& member) {
  const config::ModelConfig& config = member.config->model;
  return {{"num_features", member.network.num_features},
          {"hidden_sizes", config::hidden_sizes(config)},
          {"num_outputs", member.network.num_outputs},
          {"activation", to_text(config.activation)},
          {"norm", to_text(config.norm)},
          {"residual", config.residual}};
}

void add_model_json(const Model& model, const std::function<Json(const Member&)>& describe,
                    Json& json) {
  std::vector<Json> all;
  all.reserve(model.members.size());
  for (const Member& member : model.members) all.push_back(describe(member));
  if (std::equal(all.begin() + 1, all.end(), all.begin())) {
    json["model"] = std::move(all.front());
    return;
  }
  for (std::size_t i = 0; i < all.size(); ++i) json["members"][i]["model"] = std::move(all[i]);
}

Json member_json(const Member& member) {
  return {{"epoch", member.position.epoch},
          {"step", member.position.step},
          {"averaged_weights", member.is_averaged},
          {"temperature", member.temperature}};
}

Json scaling_json(const data::Scaling& scaling) {
  Json json = {{"shift", scaling.shift}, {"scale", scaling.scale}};
  if (!scaling.offset.empty()) json["offset"] = scaling.offset;
  for (const float inverse : scaling.inverse_limit) {
    json["limit"].push_back(inverse > 0 ? Json(1 / inverse) : Json());
  }
  return json;
}

Json target_scaling_json(const data::Schema& schema) {
  Json json = scaling_json(schema.target_scaling);
  if (!schema.target_low.empty()) {
    json["low"] = schema.target_low;
    json["high"] = schema.target_high;
  }
  return json;
}

}  // namespace trainer::apply
