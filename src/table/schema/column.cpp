// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/column.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "trainer/table/schema/scaling.h"

namespace trainer {

template <>
std::span<const std::string> enum_names<data::ColumnKind>() {
  static const std::string kNames[] = {"numeric", "categorical", "id", "left_out"};
  return kNames;
}

}  // namespace trainer

namespace trainer::data {

bool is_feature(const Column& column) {
  return column.kind == ColumnKind::kNumeric || column.kind == ColumnKind::kCategorical;
}

const std::string& source_of(const Column& column) {
  return column.source.empty() ? column.name : column.source;
}

bool is_embedded(const Column& column) {
  return column.kind == ColumnKind::kCategorical && column.embedding_size > 0;
}

int64_t num_features(const Column& column) {
  if (!is_feature(column)) return 0;
  if (is_embedded(column) || column.is_sign) return 1;
  const auto of_value = column.kind == ColumnKind::kNumeric
                            ? int64_t{1}
                            : static_cast<int64_t>(column.categories.size());
  return of_value + (column.has_missing_indicator ? 1 : 0);
}

std::vector<int64_t> first_features(std::span<const Column> columns) {
  std::vector<int64_t> firsts(columns.size());
  int64_t next = 0;
  for (const bool embedded : {false, true}) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (is_embedded(columns[i]) != embedded) continue;
      firsts[i] = next;
      next += num_features(columns[i]);
    }
  }
  return firsts;
}

std::vector<std::string> feature_names(std::span<const Column> columns) {
  std::vector<std::string> names;
  for (const Column& column : columns) {
    if (is_embedded(column)) continue;
    if (column.kind == ColumnKind::kNumeric) names.push_back(column.name);
    if (column.is_sign) {
      names.push_back(fmt::format("{}={}", column.name, column.categories.back()));
      continue;
    }
    for (const std::string& category : column.categories) {
      names.push_back(fmt::format("{}={}", column.name, category));
    }
    if (column.has_missing_indicator) names.push_back(column.name + " is missing");
  }
  for (const Column& column : columns) {
    if (is_embedded(column)) names.push_back(column.name);
  }
  return names;
}

std::vector<double> feature_offsets(std::span<const Column> columns) {
  std::vector<double> offsets;
  const std::vector<int64_t> first = first_features(columns);
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto end = static_cast<size_t>(first[i] + num_features(columns[i]));
    offsets.resize(std::max(offsets.size(), end));
    const bool is_number = columns[i].kind == ColumnKind::kNumeric && columns[i].quantiles.empty();
    if (is_number) offsets[static_cast<size_t>(first[i])] = columns[i].offset;
  }
  return offsets_or_none(std::move(offsets));
}

double in_file_units(const Column& column, float number) { return number + column.offset; }

std::string text_in_file_units(const Column& column, float number) {
  return column.offset == 0 ? fmt::format("{:g}", number)
                            : fmt::format("{:.10g}", in_file_units(column, number));
}

int64_t default_embedding_size(int64_t num_categories) {
  constexpr int64_t kMaxSize = 50;
  const double size = 1.6 * std::pow(static_cast<double>(num_categories), 0.56);
  return std::clamp<int64_t>(std::llround(size), 1, kMaxSize);
}

}  // namespace trainer::data
