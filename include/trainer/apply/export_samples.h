// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "trainer/apply/export.h"
#include "trainer/table/table.h"

/// Data to verify an exported file: sample inputs, and the outputs that this program computes.
namespace trainer::apply {

/// Random features `[num_rows, num_features]`, distributed like those of the training split,
/// without their offsets. Always the same for a model.
data::Matrix sample_features(const Model& model, int64_t num_rows);

/// `features` with their offsets added, as an exported model takes them.
std::vector<double> in_file_units(const Model& model, const data::Matrix& features);

/// Random rows of a table with the columns of the model. Some cells are missing or have an unknown
/// category, where the model accepts that. Always the same for a model. As in any data::Table,
/// numbers are without their offsets and a text is its index in `dictionaries`.
data::Table sample_cells(const Model& model, int64_t num_rows);

/// The outputs `[n, output_width]` that an exported model should return for `features`, computed by
/// this program.
std::vector<double> expected_outputs(const Model& model, const data::Matrix& features,
                                     ExportOutputs outputs);

/// The outputs with the names interval_names() that belong to `predictions` `[n, output_width]`;
/// those of sets are 0 or 1.
std::vector<std::vector<double>> interval_outputs(const Model& model,
                                                  std::span<const double> predictions);

/// The largest allowed difference of outputs, relative to their size where it exceeds 1: other
/// programs add numbers in another order.
inline constexpr double kExportTolerance = 1e-5;

/// Throws Error(kRuntime) unless the outputs `got` `[n, output_width]`, which `program` has
/// computed with the exported file at `path`, equal `expected` within kExportTolerance.
void check_outputs(const Model& model, const std::filesystem::path& path, std::string_view program,
                   std::span<const double> expected, std::span<const double> got);

}  // namespace trainer::apply
