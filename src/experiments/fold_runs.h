// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/metrics/folds.h"

/// The run folders of a cross-validation.
namespace trainer::experiments {

/// One run of a cross-validation; both count from 1.
struct FoldIndex {
  int64_t fold = 1;
  int64_t repeat = 1;
};

/// All runs, one repeat after the other.
std::vector<FoldIndex> all_folds(const metrics::FoldCounts& counts);

/// The tag of a run: "fold_3", and with repeats "fold_3_repeat_2_of_10".
std::string fold_tag(const FoldIndex& index, const metrics::FoldCounts& counts);

/// The name in messages: "fold 3/5", and with repeats "fold 3/5 of repeat 2/10".
std::string fold_name(const FoldIndex& index, const metrics::FoldCounts& counts);

/// The number of repeats, from the names of the run folders within `folder`.
int64_t find_num_repeats(const std::filesystem::path& folder);

/// The test metrics in the summary.json of a run; nothing if the run is not complete.
/// Throws Error(kFileSystem) for a file that is not such a summary.
std::optional<metrics::FoldResult> read_fold(const std::filesystem::path& run_dir,
                                             const FoldIndex& index);
}  // namespace trainer::experiments
