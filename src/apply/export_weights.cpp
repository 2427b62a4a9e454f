// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/export_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>

namespace trainer::apply {
namespace {

constexpr float kMaxHalf = 65504;
constexpr int kDroppedBits = 13;  // digits that a float32 has behind those of a float16

// Below the smallest normal number, all have this distance.
float step_of_half(float value) {
  constexpr int kMinExponent = -14;
  constexpr int kDigits = 10;
  const int exponent = value == 0 ? kMinExponent : std::ilogb(value);
  return std::ldexp(1.0F, std::max(exponent, kMinExponent) - kDigits);
}

float rounded_to_half(float value) {
  const float step = step_of_half(value);
  return std::clamp(std::nearbyint(value / step) * step, -kMaxHalf, kMaxHalf);
}

std::vector<float> stored(const archive::TensorData& tensor, WeightType type) {
  const std::span<const float> values(float_values(tensor),
                                      static_cast<std::size_t>(tensor.num_elements()));
  std::vector<float> result(values.begin(), values.end());
  if (type == WeightType::kFloat16) {
    std::transform(values.begin(), values.end(), result.begin(), rounded_to_half);
    return result;
  }
  const Int8Rows rows = to_int8(values, tensor.shape.back());
  const auto row_size = static_cast<std::size_t>(tensor.shape.back());
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<float>(rows.values[i]) * rows.scales[i / row_size];
  }
  return result;
}

}  // namespace

bool is_matrix(const checkpoint::NamedTensor& weight) {
  return weight.tensor.shape.size() > 1 && weight.name.ends_with(".weight");
}

uint16_t to_half(float value) {
  constexpr uint32_t kBiasDifference = (127 - 15) << 23U;
  constexpr float kSmallestNormal = 6.103515625e-5F;
  const float half = rounded_to_half(value);
  const auto bits = std::bit_cast<uint32_t>(std::abs(half));
  const uint32_t sign = std::signbit(half) ? 0x8000U : 0U;
  const uint32_t magnitude = std::abs(half) < kSmallestNormal
                                 ? static_cast<uint32_t>(std::abs(half) / step_of_half(half))
                                 : (bits - kBiasDifference) >> kDroppedBits;
  return static_cast<uint16_t>(sign | magnitude);
}

Int8Rows to_int8(std::span<const float> values, int64_t row_size) {
  constexpr float kMax = 127;
  Int8Rows rows;
  rows.values.reserve(values.size());
  const auto size = static_cast<std::size_t>(row_size);
  for (std::size_t begin = 0; begin < values.size(); begin += size) {
    const std::span<const float> row = values.subspan(begin, size);
    float largest = 0;
    for (const float value : row) largest = std::max(largest, std::abs(value));
    const float scale = largest / kMax < std::numeric_limits<float>::min() ? 1 : largest / kMax;
    rows.scales.push_back(scale);
    for (const float value : row) {
      rows.values.push_back(
          static_cast<int8_t>(std::clamp(std::nearbyint(value / scale), -kMax, kMax)));
    }
  }
  return rows;
}

Model with_stored_weights(const Model& model, WeightType type) {
  Model result = model;
  if (type == WeightType::kFloat32) return result;
  for (Member& member : result.members) {
    for (checkpoint::NamedTensor& weight : member.weights) {
      if (!is_matrix(weight)) continue;
      const auto values = std::make_shared<std::vector<float>>(stored(weight.tensor, type));
      weight.tensor.data = std::as_bytes(std::span(*values)).data();
      weight.tensor.owner = values;
    }
  }
  return result;
}

}  // namespace trainer::apply
