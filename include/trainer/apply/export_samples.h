// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/apply/export.h"
#include "trainer/data/table.h"

/// What an exported file is verified with: features, and the outputs that this program computes.
namespace trainer::apply {

/// Rows of random features, distributed as those of the training split were, without their offsets.
/// Always the same ones.
data::Matrix sample_features(const Model& model, int64_t num_rows);

/// The same with their offsets, as an exported model takes them.
std::vector<double> in_file_units(const Model& model, const data::Matrix& features);

/// What an exported model should answer on `features`, computed by this program: `[n,
/// output_width]`.
std::vector<double> expected_outputs(const Model& model, const data::Matrix& features,
                                     ExportOutputs outputs);

}  // namespace trainer::apply
