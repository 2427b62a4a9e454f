// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "trainer/metrics/folds.h"

/// The run folders of a cross-validation.
namespace trainer::cli {

/// The newest run folder of a fold within `folder`, or nothing.
std::optional<std::filesystem::path> find_fold(const std::filesystem::path& folder, int64_t fold);

/// The tag of the run of a fold: "fold_3".
std::string fold_tag(int64_t fold);

/// What the summary.json of a run says of its test part; nothing where the run is not complete.
/// Throws Error(kFileSystem) for a file that cannot be understood.
std::optional<metrics::FoldResult> read_fold(const std::filesystem::path& run_dir, int64_t fold);

}  // namespace trainer::cli
