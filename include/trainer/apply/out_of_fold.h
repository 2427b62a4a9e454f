// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "trainer/apply/evaluate.h"
#include "trainer/apply/model.h"

namespace trainer::apply {

/// A complete run of a cross-validation, with the numbers of its fold and repeat, counted from 1.
struct FoldRun {
  std::filesystem::path run_dir;
  int64_t fold = 1;
  int64_t repeat = 1;
};

/// Writes the predictions of each run for its test split, with the weights of its best epoch, to
/// one file as predict() does. Columns: the id columns of the data, `line` (or `row`, counted from
/// 1, if the data is not a text file), `fold`, `repeat`, `target` (or `target_<name>` for each of
/// several targets), and the columns of predict(). Rows are in the order of the data, one repeat
/// after the other. An id column with the name of another column is left out. Throws Error(kData)
/// if the data files have changed, and as load_model() and data::load_datasets() do.
void write_out_of_fold(const std::vector<FoldRun>& runs, const std::filesystem::path& output,
                       int64_t num_threads);

/// The rows of all folds, each with the outputs of the run that has not seen it.
struct FoldOutputs {
  Model first;            // of the first run
  SplitOutputs of_first;  // the rows of its fold, with their features
  /// Of all runs. Outputs and targets are as the first run scales them; the features, which each
  /// run has encoded in its own way, are left out.
  SplitOutputs all;
  std::vector<int64_t> sizes = {};  // the rows of each run, one after the other in `all`
};

/// Predicts the rows of the fold of each run: its test split in a cross-validation, which are those
/// of one repeat (at least one), its validation split in an ensemble. Throws Error(kData) if the
/// runs have other classes, and as predict_own_split() does.
FoldOutputs predict_folds(const std::vector<std::filesystem::path>& runs, int64_t num_threads);

}  // namespace trainer::apply
