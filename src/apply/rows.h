// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/apply/predict.h"
#include "trainer/table/source/table_reader.h"
#include "trainer/table/table.h"

namespace trainer::apply {

/// A batch of rows of the data, encoded for a model.
struct Rows {
  data::TablePiece piece;         // for tables: the rows before they are encoded
  data::Matrix features;          // [num_rows, num_features], encoded
  std::vector<std::string> ids;   // [num_rows, ids of the source]
  Array<int64_t> lines;           // [num_rows] lines of a text file, else row numbers from 1
  std::vector<data::BadRow> bad;  // rows that were left out, sorted by line; OnError::kSkip only
};

/// A source of rows that are read batch by batch: a table, images or an array.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// The names of the columns that are copied to the output: ids and kept columns.
  virtual std::vector<std::string> id_names() const { return {}; }
  /// The SQL types of the first of these columns, if known; all others are text.
  virtual std::vector<std::string> id_types() const { return {}; }
  /// Lines for the user about the files, about ignored columns and about missing ids.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Finds the next rows, at most `max_rows`; false if there are no more.
  virtual bool take(int64_t max_rows, Rows& rows) = 0;
  /// Reads and encodes the rows that take() has found. Several threads may call it concurrently,
  /// each with its own rows. All rows may turn out to be bad.
  virtual void read(Rows& /*rows*/) {}
  /// Throws Error(kData) if the data has no rows at all. Call it after the last rows.
  virtual void require_rows() const {}
  /// Calls take() and read(); at the end calls require_rows() and returns false.
  bool next(int64_t max_rows, Rows& rows);
  /// Lines about the rows that were read so far, such as the number of unknown categories.
  virtual std::vector<std::string> warnings() const { return {}; }
  /// A sentence for each column whose cells are not like those in training, see DriftCounter.
  virtual std::vector<std::string> differences() const { return {}; }
  virtual uint64_t bytes_read() const = 0;
  virtual uint64_t size_hint() const = 0;
};

/// The columns that a table for a model of `schema` must have: those of the training data, or if
/// that had none (images, arrays, synthetic data) a numeric column for each feature name.
std::vector<data::Column> make_columns(const data::Schema& schema);

/// Whether the content of a regular file, after unpacking it, begins with two zero bytes as IDX
/// files do, which no text can.
bool is_idx(const std::filesystem::path& path);

/// Throws the Error(kData) that a table was expected but `path` is a NumPy array.
[[noreturn]] void refuse_array(const std::filesystem::path& path);

/// Throws Error(kData) unless a model of `schema` takes rows of `width` features.
void require_width(const data::Schema& schema, int64_t width, const std::filesystem::path& file);

/// Opens the data of a request and reads its header. Throws Error(kData).
std::unique_ptr<RowSource> open_rows(const Model& model, const PredictRequest& request);

}  // namespace trainer::apply
