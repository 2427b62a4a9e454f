// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/data/table_source.h"

namespace trainer::apply {

/// What happens at a row that cannot be read as the model needs it.
enum class OnError { kStop, kSkip };

/// What to predict, and how to read and write it.
struct PredictRequest {
  /// A table, or IDX images or a .npy array for a model that was trained on such.
  data::TableSource data;
  std::filesystem::path output = {};  // "-": standard output
  char output_delimiter = ',';
  char output_decimal = '.';
  int64_t num_threads = 1;
  int64_t batch_size = 0;  // 0: as many as are fast; the output is the same
  /// Columns of a CSV file that are carried along as they stand: names, or patterns with * and ?.
  std::vector<std::string> kept = {};
  /// Whether rows that cannot be read are left out.
  OnError on_error = OnError::kStop;
  /// Where they are listed, as `line,reason`; empty: nowhere.
  std::filesystem::path errors = {};
};

/// Whether the ending of a name promises text as predict() writes it: .csv, .tsv, .tab or .txt,
/// perhaps with .gz behind, or none.
bool is_text_name(const std::filesystem::path& file);

/// Whether it promises that or a Parquet file.
bool is_prediction_name(const std::filesystem::path& file);

/// How far a prediction is. Sent after every few thousand rows.
struct PredictProgress {
  int64_t num_rows = 0;
  uint64_t num_bytes = 0;  // read so far
  uint64_t size_hint = 0;  // of the data; 0: not known
};

/// What was predicted.
struct PredictReport {
  int64_t num_rows = 0;
  int64_t num_skipped = 0;  // rows that could not be read
  double time_seconds = 0;
  std::vector<std::string> warnings;  // a line each
};

/// What comes of data that can be looked at before its rows: lines that the user should know.
using PredictNotes = std::function<void(const std::string& line)>;

/// Writes a CSV file with a row for each row of the data, in their order: the id columns and
/// those that are kept as they are, then `prediction` with the label and `p_<label>` with the
/// probability of each class; or, for regression, `prediction`, and of several targets
/// `prediction_<target>`. Numbers are the shortest text that reads back as the same float32, with
/// the decimal mark of the request. Memory
/// does not depend on the number of rows, but for IDX. A file appears complete or not at all, and
/// replaces an older one only then; what is no regular file (a pipe, a device) is written to as it
/// is. Columns of the data are found by their names; others are left out, those that the training
/// data did not have with a note. A row whose outputs are not finite has empty cells. `progress`
/// returns false to end it: then no file is left, and the report has the rows so far. Throws
/// Error(kData) as data::TableReader does, for cells that the model cannot take, and when all rows
/// are skipped; and Error(kFileSystem).
PredictReport predict(const Model& model, const PredictRequest& request, const PredictNotes& notes,
                      const std::function<bool(const PredictProgress&)>& progress);

}  // namespace trainer::apply
