// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/apply/export.h"
#include "trainer/apply/model.h"

/// Matrices of weights as smaller numbers, for exported files.
namespace trainer::apply {

/// Whether ExportOptions::weights applies to a tensor: of one dimension, or with another role than
/// a factor, it keeps float32.
bool is_matrix(const checkpoint::NamedTensor& weight);

/// The bits of the nearest float16, the largest one for what is beyond.
uint16_t to_half(float value);

/// Numbers as integers from -127 to 127, times the scale of their row.
struct Int8Rows {
  std::vector<int8_t> values;  // [rows, row_size]
  std::vector<float> scales;   // [rows]
};

/// The nearest such numbers, where the largest one of a row is 127.
Int8Rows to_int8(std::span<const float> values, int64_t row_size);

/// The model with the weights that a file with this type has.
Model with_stored_weights(const Model& model, WeightType type);

}  // namespace trainer::apply
