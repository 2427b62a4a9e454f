// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

#include "trainer/data/dataset.h"
#include "trainer/model/loss.h"

namespace trainer::train {

/// A split of the data on the device. On the CPU these are views of the Dataset and of the Schema's
/// scaling, which must outlive it. Features are scaled, and bytes converted to float32, when a
/// batch is gathered, unless `is_scaled`: on other devices float32 is scaled once.
struct ResidentData {
  at::Tensor features;            // [n, num_features] float32 or uint8
  at::Tensor targets;             // [n] int64 classes, or [n, num_targets] float32 values
  at::Tensor shift;               // [num_features]
  at::Tensor scale;               // [num_features]
  at::Tensor inverse_limit = {};  // [num_features] of the smooth clip; undefined: none
  at::Tensor weights = {};        // [n] float32; undefined: none
  bool is_scaled = false;
  data::RowChecks* checks = nullptr;  // of the Dataset, on the CPU

  int64_t size() const { return features.size(0); }
};

/// The input of one forward pass: scaled features `[batch, num_features]` float32 and targets.
struct Batch {
  at::Tensor features;
  model::Targets targets;

  int64_t size() const { return features.size(0); }
};

/// A split on `device`; targets as the loss takes them.
ResidentData make_resident(const data::Dataset& dataset, const data::Schema& schema,
                           c10::Device device);

/// Throws Error(kData) if one of these rows of a cache is damaged (data/row_checks.h). Whoever
/// reads the features without gather() and slice() calls it before.
void require_intact(const ResidentData& data, std::span<const int64_t> rows);

/// The samples with the indices `rows`, `[batch]` int64 on the device.
Batch gather(const ResidentData& data, const at::Tensor& rows);

/// The samples [begin, end) in the order of the data.
Batch slice(const ResidentData& data, int64_t begin, int64_t end);

}  // namespace trainer::train
