// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/config/data_config.h"
#include "trainer/config/load.h"
#include "trainer/metrics/folds.h"

/// Runs whose rows are divided into folds.
namespace trainer::experiments {

/// The numbers of one run of a cross-validation; both count from 1.
struct FoldIndex {
  int64_t fold = 1;
  int64_t repeat = 1;
};

/// Returns the numbers of all runs, one repeat after the other.
std::vector<FoldIndex> all_folds(const metrics::FoldCounts& counts);

/// Returns the tag of a run: "fold_3", or with several repeats "fold_3_repeat_2_of_10".
std::string fold_tag(const FoldIndex& index, const metrics::FoldCounts& counts);

/// Returns the name of a run in messages: "fold 3/5", or with several repeats "fold 3/5 of repeat
/// 2/10".
std::string fold_name(const FoldIndex& index, const metrics::FoldCounts& counts);

/// Returns the number of repeats according to the names of the run folders in `folder`.
int64_t find_num_repeats(const std::filesystem::path& folder);

/// Returns the test metrics in the summary.json of a run, or nothing if the run is not complete.
/// Throws Error(kFileSystem) if the file is not the summary of a run with a test split.
std::optional<metrics::FoldResult> read_fold(const std::filesystem::path& run_dir,
                                             const FoldIndex& index);

/// Returns whether each member of an ensemble may validate on other rows. This is so unless the
/// configuration states which rows validate.
bool has_validation_folds(const config::DataConfig& data);

/// What makes a run learn from all rows but those of fold `fold` of `num_folds`, on which it
/// validates. `option` says in messages where `num_folds` is from.
std::vector<config::Override> validation_fold(int64_t fold, int64_t num_folds,
                                              const std::string& option);

}  // namespace trainer::experiments
