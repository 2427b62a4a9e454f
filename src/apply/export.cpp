// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export.h"

#include <cstddef>
#include <limits>

#include <fmt/format.h>

#include "trainer/table/schema/column.h"

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

}  // namespace trainer::apply
