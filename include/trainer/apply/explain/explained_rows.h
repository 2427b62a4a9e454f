// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "trainer/apply/labelled_rows.h"
#include "trainer/apply/model.h"
#include "trainer/table/dataset.h"

namespace trainer::explain {

/// The rows with which a model is explained.
struct ExplainedRows {
  std::string split = {};  // "test" or "validation" of the run's own data; else empty
  data::Schema schema;     // the model's, see apply::SplitRows
  data::Dataset rows;
  int64_t num_available = 0;  // number of rows from which these were chosen
  apply::FileNotes notes = {};
};

/// Limits rows to a random sample of at most `max_rows`, in which each row is equally likely
/// (Vitter's algorithm R, "Random sampling with a reservoir", 1985). The same seed gives the same
/// sample.
struct RowLimit {
  int64_t max_rows = 0;
  uint64_t seed = 0;
};

/// Returns `rows` of the run's own data, or a sample of them.
ExplainedRows choose_rows(const apply::SplitRows& rows, const RowLimit& limit);

/// Reads a file and returns its rows, or a sample of them, without holding the other rows of a
/// table in memory. Throws as apply::read_labelled() does.
ExplainedRows read_rows(const apply::Model& model, const apply::LabelledFile& file,
                        const RowLimit& limit);

}  // namespace trainer::explain
