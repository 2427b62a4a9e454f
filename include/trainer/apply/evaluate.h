// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/data/csv_format.h"
#include "trainer/metrics/report.h"

namespace trainer::apply {

struct Evaluated {
  metrics::Report report;
  std::string part;                   // "test" or "validation" of the run's own data; else empty
  std::vector<std::string> warnings;  // a line each
  int64_t num_without_target = 0;     // rows of the file that were left out for that
};

/// How good the model is on a CSV file that has its columns and its targets, in any order; "-" is
/// the standard input. The loss is that of training.loss, each row counted by data.weight. The file
/// is read in pieces; outputs and targets of all rows stay in memory. Throws Error(kData) as
/// predict() does, for a target that is missing, no number or a label that the model does not know,
/// and for a model that was not trained on a table. A row without a target is left out where
/// training did so (data.drop_rows_without_target).
Evaluated evaluate_file(const Model& model, const std::filesystem::path& data,
                        const data::CsvFormat& format, int64_t num_threads);

/// The same on the test part of the run's own data, or on its validation part where there is no
/// test part. Throws Error(kData) when there is neither, when the data are not what they were, and
/// as data::load_datasets does.
Evaluated evaluate_own_part(const Model& model, int64_t num_threads);

}  // namespace trainer::apply
