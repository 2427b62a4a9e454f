// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "trainer/apply/labelled_rows.h"
#include "trainer/apply/model.h"
#include "trainer/data/dataset.h"

namespace trainer::explain {

/// Rows that a model is explained on.
struct ExplainedRows {
  std::string split = {};  // "test" or "validation" of the run's own data; else empty
  data::Schema schema;     // of the model; see apply::SplitRows
  data::Dataset rows;
  int64_t num_available = 0;  // rows that these were chosen of
  apply::FileNotes notes = {};
};

/// At most `max_rows`, each row equally likely (Vitter's algorithm R, "Random sampling with a
/// reservoir", 1985), a function of the seed.
struct RowLimit {
  int64_t max_rows = 0;
  uint64_t seed = 0;
};

/// `rows` of the run's own data, or some of them.
ExplainedRows choose_rows(const apply::SplitRows& rows, const RowLimit& limit);

/// Rows of a file, of which no more are in memory at a time. Throws as apply::read_labelled().
ExplainedRows read_rows(const apply::Model& model, const apply::LabelledFile& file,
                        const RowLimit& limit);

}  // namespace trainer::explain
