// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/decode.h"

#include <algorithm>
#include <cstddef>

#include "trainer/table/schema/quantiles.h"

namespace trainer::data {
namespace {

constexpr float kMark = 0.5F;  // a feature that is 1, not 0, is above it

/// The index of the category, their number for what is missing, or one more for what is unknown.
size_t category_of(const Column& column, std::span<const float> features) {
  const size_t num_categories = column.categories.size();
  if (!is_embedded(column) && !column.is_sign) {
    const auto mark = std::find_if(features.begin(), features.end(),
                                   [](float feature) { return feature > kMark; });
    return mark == features.end() ? num_categories + 1
                                  : static_cast<size_t>(mark - features.begin());
  }
  // Here what is missing and what is unknown are the same.
  const size_t none = num_categories + (column.has_missing_indicator ? 0 : 1);
  if (column.is_sign) return features[0] < -kMark ? 0 : features[0] > kMark ? 1 : none;
  const auto index = static_cast<size_t>(features[0]);
  return index < num_categories ? index : none;
}

}  // namespace

float decoded_number(const Column& column, float feature) {
  if (column.quantiles.empty()) return feature;
  return QuantileScale(column.quantiles, column.quantile_score).value_of(feature);
}

std::string decoded_text(const Column& column, std::span<const float> features) {
  if (column.kind == ColumnKind::kNumeric) {
    if (column.has_missing_indicator && features[1] > kMark) return "missing";
    return text_in_file_units(column, decoded_number(column, features[0]));
  }
  const size_t category = category_of(column, features);
  if (category < column.categories.size()) return column.categories[category];
  return category == column.categories.size() ? "missing" : "unknown";
}

}  // namespace trainer::data
