// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "trainer/table/dataset.h"
#include "trainer/table/split/split.h"

namespace trainer::config {
struct DataConfig;
}

/// What a schema learns from rows.
namespace trainer::data {

/// The rows that columns and scalings are fitted to (data.fit_on), ascending: those of
/// `split.train`, or several splits, merged into `merged`.
std::span<const int64_t> rows_to_fit(const SplitIndices& split, const config::DataConfig& data,
                                     Array<int64_t>& merged);

/// Fits scalings, means of the targets and limits of predictions to the rows `rows` of `whole`,
/// whose targets are not scaled yet. Columns and offsets of `schema` are set already.
void fit_schema(const Dataset& whole, std::span<const int64_t> rows, const config::DataConfig& data,
                Schema& schema);

}  // namespace trainer::data
