// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/data/split.h"

namespace trainer::config {
struct DataConfig;
}

/// What a schema learns from rows.
namespace trainer::data {

/// The rows that columns and scalings are fitted to (data.fit_on), ascending.
std::vector<int64_t> rows_to_fit(const SplitIndices& split, const config::DataConfig& data);

/// Fits scalings, means of the targets and limits of predictions to the rows `rows` of `whole`,
/// whose targets are not scaled yet. Columns and offsets of `schema` are set already.
void fit_schema(const Dataset& whole, std::span<const int64_t> rows, const config::DataConfig& data,
                Schema& schema);

}  // namespace trainer::data
