// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "trainer/config/types.h"
#include "trainer/table/schema/column.h"
#include "trainer/table/table.h"

namespace trainer::data {

/// How columns are to be fitted.
struct FitOptions {
  config::Imputation fill = config::Imputation::kMean;
  double fill_value = 0;           // for kConstant
  bool missing_indicator = false;  // of numeric columns; categorical ones always mark missing cells
  int64_t embed_above = std::numeric_limits<int64_t>::max();  // categories, to be embedded
  int64_t embedding_size = 0;                                 // 0: default_embedding_size()
  bool signs = false;                           // whether two categories become one feature
  std::optional<QuantileScore> quantiles = {};  // what numbers become; none: they stay
};

/// The columns of `table` with what is learned from the rows `train_rows`: fills, categories
/// (distinct_values(), sorted by value when all are numbers, else by their bytes), whether a cell
/// was missing, and quantiles of the cells with their fills. A column without a value in these rows
/// is left out, with a reason. Throws Error(kData) where that was declared in the configuration,
/// and when no feature is left.
std::vector<Column> fit_columns(const Table& table, std::span<const int64_t> train_rows,
                                const FitOptions& options);

}  // namespace trainer::data
