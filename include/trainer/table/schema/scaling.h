// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/table/table.h"

namespace trainer::data {

/// A number x of a file becomes z = (float(x - offset) - shift) * scale, and that with a smooth
/// clip z / sqrt(1 + (z / limit)^2): the offset, 0 of nearly all columns, is subtracted in double
/// when the file is read, for float32 would lose what tells large numbers apart. Features, and
/// targets of a Dataset, are without it. Shift and scale are fitted on the training split only
/// (unless data.fit_on says otherwise); all are stored in every checkpoint.
struct Scaling {
  std::vector<float> shift;               // [num_features]
  std::vector<float> scale;               // [num_features]
  std::vector<double> offset = {};        // [num_features]; empty: 0 of all
  std::vector<float> inverse_limit = {};  // [num_features] 1 / limit, 0: none; empty: none of all

  /// What is subtracted from a number of this feature.
  double offset_of(size_t feature) const { return offset.empty() ? 0 : offset[feature]; }
  bool operator==(const Scaling&) const = default;
};

/// kNone, kQuantile and kQuantileNormal: shift 0, scale 1. kStandard: mean and 1 / standard
/// deviation (of the population) of each column. kMinMax: minimum and 1 / (maximum - minimum).
/// kRobust: median and 1 / (distance between the quartiles); where the quartiles are equal 1 /
/// standard deviation, or of two values, such as marks of a category, 2 / (maximum - minimum). A
/// column that is constant in `features` gets scale 0: nothing can be learned from it, whatever it
/// is later.
Scaling fit_scaling(const Matrix& features, config::ScalingMethod method);

/// The same for the rows `rows` only.
Scaling fit_scaling(const Matrix& features, std::span<const int64_t> rows,
                    config::ScalingMethod method);

/// Shifts and scales `values` `[n, columns]`, which are without their offsets and have no limit.
void scale(const Scaling& scaling, std::span<float> values);

/// `values` `[n, columns]`, which were scaled, as the file has them: with its offset in double,
/// without one as the nearest float32.
std::vector<double> unscaled(const Scaling& scaling, std::span<const float> values);

/// `offset`, or nothing where it is 0 of all.
std::vector<double> offsets_or_none(std::vector<double> offset);

}  // namespace trainer::data
