// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trainer/base/memory/array.h"
#include "trainer/table/split/split.h"
#include "trainer/table/table.h"

#include "table/schema/target.h"

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// The index in `labels` of each target of `table` `[num_rows]`, in any spelling where all are
/// numbers. Throws Error(kData) for a label that is not among them, naming `origin` as the file
/// that they come from.
Array<int64_t> encode_labels(const Table& table, std::span<const std::string> labels,
                             const std::string& origin);

/// Throws Error(kData) for a label with fewer rows than folds, so that a fold would lack it.
void require_labels_for_folds(const Table& table, const Target& target, int64_t folds);

/// Throws Error(kData) for a label of another split that no row of the training split, or of those
/// that data.fit_on adds to it, has.
void require_labels_in_training(const Table& table, const Target& target, const SplitIndices& split,
                                const config::DataConfig& data);

/// Throws Error(kData) for an id column that has the name of a column of the predictions, beside
/// which it will stand.
void require_other_names(const Table& table, const Target& target);

}  // namespace trainer::data
