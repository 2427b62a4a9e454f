// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/table/source/table_source.h"

namespace trainer::apply {

/// What predict() does at a row that the model cannot take: throw an error, or skip the row.
enum class OnError { kStop, kSkip };

/// What to predict, and how to read and write it.
struct PredictRequest {
  /// A table, or IDX images or a .npy array for a model that was trained on such data.
  data::TableSource data;
  std::filesystem::path output = {};  // "-": standard output
  char output_delimiter = ',';
  char output_decimal = '.';
  int64_t num_threads = 1;
  int64_t batch_size = 0;  // rows; 0: chosen for speed; the output does not depend on it
  /// Columns of a table that are copied unchanged to the output: names, or patterns with * and ?.
  std::vector<std::string> kept = {};
  /// Whether a row that cannot be read is an error or is skipped.
  OnError on_error = OnError::kStop;
  /// The CSV file that lists the skipped rows as `line,reason`; empty: none.
  std::filesystem::path errors = {};
  /// Whether each row of CSV text is predicted as soon as its line has arrived, and written before
  /// the next one is read, by one thread. A skipped row gets a line of empty cells.
  bool follows = false;
};

/// Whether a file name has an extension for text, as predict() writes it: .csv, .tsv, .tab, .txt or
/// none, each optionally followed by .gz.
bool is_text_name(const std::filesystem::path& file);

/// Whether a file name has an extension for text or Parquet, the two formats of predict().
bool is_prediction_name(const std::filesystem::path& file);

/// The progress of predict(), which is reported after each batch.
struct PredictProgress {
  int64_t num_rows = 0;
  uint64_t num_bytes = 0;  // read so far; rows instead of bytes for IDX and .npy files
  uint64_t size_hint = 0;  // size of the data in the same unit; 0: unknown
};

/// The numbers of rows that predict() has handled, and its warnings.
struct PredictReport {
  int64_t num_rows = 0;
  int64_t num_skipped = 0;  // rows that could not be read
  double time_seconds = 0;
  std::vector<std::string> warnings;  // one line each
  /// What is not as in training: a sentence for each column whose cells differ
  /// (data::DriftCounter), and one if at least 20 rows all have the same prediction.
  std::vector<std::string> differences;
};

/// Receives lines for the user that are known before the first row is read, such as which columns
/// are ignored.
using PredictNotes = std::function<void(const std::string& line)>;

/// Writes a CSV or Parquet file with a row for each row of the data, in the same order: the id and
/// kept columns unchanged, then `prediction` with the label and `p_<label>` with the probability of
/// each class; for regression `prediction`, or `prediction_<target>` for each of several targets.
/// Numbers are the shortest text that reads back as the same float32 (for targets with an offset,
/// within the precision of the float32 without it), with the decimal mark of the request. Memory
/// does not depend on the number of rows, except for IDX and .npy files. A regular file appears
/// complete or not at all and only then replaces an older one; a pipe or device is written
/// directly. Columns of the data are found by name; other columns are ignored, with a note if the
/// training data did not have them. A row whose outputs are not finite gets empty cells. `progress`
/// returns false to stop: then no file is left, and the report has the rows so far. Throws
/// Error(kData) as data::TableReader does, for cells that the model cannot take, and if all rows
/// are skipped; and Error(kFileSystem).
PredictReport predict(const Model& model, const PredictRequest& request, const PredictNotes& notes,
                      const std::function<bool(const PredictProgress&)>& progress);

}  // namespace trainer::apply
