// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/data/csv_format.h"

namespace trainer::apply {

struct PredictRequest {
  std::filesystem::path data;    // CSV, or IDX images for a model of images; "-": standard input
  std::filesystem::path output;  // "-": standard output
  data::CsvFormat format = {};   // of the data
  char output_delimiter = ',';
  char output_decimal = '.';
  int64_t num_threads = 1;
  int64_t rows_at_once = 0;  // 0: as many as are fast; the output is the same
};

/// How far a prediction is. Sent after every few thousand rows.
struct PredictProgress {
  int64_t num_rows = 0;
  uint64_t num_bytes = 0;     // read so far
  uint64_t likely_bytes = 0;  // of the data; 0: not known
};

struct PredictReport {
  int64_t num_rows = 0;
  double time_seconds = 0;
  std::vector<std::string> warnings;  // a line each
};

/// What comes of data that can be looked at before its rows: lines that the user should know.
using PredictNotes = std::function<void(const std::string& line)>;

/// Writes a CSV file with a row for each row of the data, in their order: the id columns as they
/// are, then `prediction` with the label and `p_<label>` with the probability of each class; or,
/// for regression, `prediction`, and of several targets `prediction_<target>`. Numbers are the
/// shortest text that reads back as the same float32, with the decimal mark of the request. Memory
/// does not depend on the number of rows, but for IDX. A file appears complete or not at all, and
/// replaces an older one only then; what is no regular file (a pipe, a device) is written to as it
/// is. Columns of the data are found by their names; others are left out, those that the training
/// data did not have with a note. A row whose outputs are not finite has empty cells. `progress`
/// returns false to end it: then no file is left, and the report has the rows so far. Throws
/// Error(kData) as data::CsvPieces does and for cells that the model cannot take, and
/// Error(kFileSystem).
PredictReport predict(const Model& model, const PredictRequest& request, const PredictNotes& notes,
                      const std::function<bool(const PredictProgress&)>& progress);

}  // namespace trainer::apply
