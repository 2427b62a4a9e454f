// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
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

/// The cells of random rows of a table with the columns of the model: some are missing, or in a
/// category that is not known, where the model takes such. Always the same ones; those of a
/// numeric column without its offset, as in any table. A text is its index in `dictionaries`.
data::Table sample_cells(const Model& model, int64_t num_rows);

/// What an exported model should answer on `features`, computed by this program: `[n,
/// output_width]`.
std::vector<double> expected_outputs(const Model& model, const data::Matrix& features,
                                     ExportOutputs outputs);

/// How much outputs may differ, as a part of their size where that is more than 1: others add
/// numbers up in another order.
inline constexpr double kExportTolerance = 1e-5;

/// Throws Error(kRuntime) unless what `program` has computed with the exported file at `path` are
/// the expected outputs `[n, output_width]`, within kExportTolerance.
void check_outputs(const Model& model, const std::filesystem::path& path, std::string_view program,
                   std::span<const double> expected, std::span<const double> got);

}  // namespace trainer::apply
