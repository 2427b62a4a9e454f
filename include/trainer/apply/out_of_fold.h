// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace trainer::apply {

/// A complete run of a cross-validation.
struct FoldRun {
  std::filesystem::path run_dir;
  int64_t fold = 1;
  int64_t repeat = 1;
};

/// Writes what each run predicts of its test split, with the weights of its best epoch, as one CSV
/// file: the id columns of the data, `line` (of data that is no text file `row`, from 1 on),
/// `fold`, `repeat`, `target` (of several `target_<name>`), and the columns of predict(). Rows
/// stand in the order of the data, one repeat after the other. An id column with the name of
/// another one is left out. Throws Error(kData) where the data are not what they were, and as
/// load_model() and data::load_datasets() do.
void write_out_of_fold(const std::vector<FoldRun>& runs, const std::filesystem::path& output,
                       int64_t num_threads);

}  // namespace trainer::apply
