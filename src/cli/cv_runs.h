// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trainer/metrics/folds.h"

/// The run folders of a cross-validation.
namespace trainer::cli {

/// Which run of a cross-validation.
struct FoldPlace {
  int64_t fold = 1;
  int64_t repeat = 1;
  int64_t num_repeats = 1;
};

/// The newest run folder of a fold within `folder`, or nothing.
std::optional<std::filesystem::path> find_fold(const std::filesystem::path& folder,
                                               const FoldPlace& place);

/// How often the folds are repeated, as the run folders within `folder` tell.
int64_t find_repeats(const std::filesystem::path& folder);

/// The tag of the run of a fold: "fold_3", and with repeats "fold_3_repeat_2_of_10".
std::string fold_tag(const FoldPlace& place);

/// What the summary.json of a run says of its test part; nothing where the run is not complete.
/// Throws Error(kFileSystem) for a file that cannot be understood.
std::optional<metrics::FoldResult> read_fold(const std::filesystem::path& run_dir,
                                             const FoldPlace& place);

}  // namespace trainer::cli
