// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/apply_schema.h"

#include <cstddef>
#include <utility>

#include "trainer/data/encode.h"
#include "trainer/data/scaling.h"

#include "data/labels.h"
#include "data/split_dataset.h"
#include "data/target.h"

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
