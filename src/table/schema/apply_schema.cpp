// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/apply_schema.h"

#include <cstddef>
#include <utility>

#include "trainer/table/schema/encode.h"
#include "trainer/table/schema/scaling.h"

#include "table/schema/labels.h"
#include "table/schema/target.h"
#include "table/split/split_dataset.h"

namespace trainer::data {
namespace {

Matrix take_features(Table& table, const Schema& schema, std::vector<int64_t>& num_unknown) {
  if (schema.columns.empty()) return std::move(table.features);
  Encoded encoded = encode(schema.columns, schema.unknown_category, table);
  num_unknown.resize(schema.columns.size());
  for (size_t i = 0; i < num_unknown.size(); ++i) num_unknown[i] += encoded.num_unknown[i];
  return std::move(encoded.features);
}

}  // namespace

Dataset apply_schema(Table&& table, const Schema& schema, const std::string& origin,
                     std::vector<int64_t>& num_unknown) {
  Dataset dataset;
  dataset.features = take_features(table, schema, num_unknown);
  if (schema.task == config::Task::kClassification) {
    dataset.classes = encode_labels(table, schema.labels, origin);
  } else {
    dataset.targets = target_numbers(table);
    dataset.values = without_offsets(dataset.targets, schema.target_scaling.offset);
    scale(schema.target_scaling, dataset.values);
  }
  dataset.source_lines = source_lines(std::move(table.lines), dataset.size());
  dataset.weights = std::move(table.weights);
  return dataset;
}

}  // namespace trainer::data
