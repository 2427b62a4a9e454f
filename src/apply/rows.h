// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "trainer/apply/model.h"
#include "trainer/apply/predict.h"
#include "trainer/data/table.h"
#include "trainer/data/table_reader.h"

namespace trainer::apply {

/// Some rows of the data, as a model takes them.
struct Rows {
  data::TablePiece piece;         // of a table: where they are read from
  data::Matrix features;          // [num_rows, num_features], encoded
  std::vector<std::string> ids;   // [num_rows, ids of the source]
  Array<int64_t> lines;           // [num_rows] of a text file, else numbers of the rows from 1 on
  std::vector<data::BadRow> bad;  // that were left out, in their order; of OnError::kSkip only
};

/// Where rows come from.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// Names of the id columns.
  virtual std::vector<std::string> id_names() const { return {}; }
  /// Their types in SQL, where these are known; all others are text.
  virtual std::vector<std::string> id_types() const { return {}; }
  /// Columns that nobody asked for, and ids that are not there: a line each.
  virtual std::vector<std::string> notes() const { return {}; }
  /// Finds the next rows, at most `max_rows`; false when there are no more.
  virtual bool take(int64_t max_rows, Rows& rows) = 0;
  /// Reads what take() has found. Several threads may call it concurrently, each with rows of its
  /// own. All rows may be bad.
  virtual void read(Rows& /*rows*/) {}
  /// After all rows: throws Error(kData) for data without any.
  virtual void require_rows() const {}
  /// Both steps, one after the other.
  bool next(int64_t max_rows, Rows& rows);
  /// Of what was read.
  virtual std::vector<std::string> warnings() const { return {}; }
  virtual uint64_t bytes_read() const = 0;
  virtual uint64_t size_hint() const = 0;
};

/// The columns of a table that has the features of `schema`: those that it was trained on, or for
/// data without columns (images, arrays, synthetic) numbers under the names of the features.
std::vector<data::Column> make_columns(const data::Schema& schema);

/// IDX begins with two zeros, gzip with its own mark; a table with neither.
bool is_idx(const std::filesystem::path& path);

/// Throws Error(kData) for an array of NumPy where a table is expected.
[[noreturn]] void refuse_array(const std::filesystem::path& path);

/// Throws Error(kData) unless a model of `schema` takes rows of so many features.
void require_width(const data::Schema& schema, int64_t width, const std::filesystem::path& file);

/// Opens the data of a request and looks at its header. Throws Error(kData).
std::unique_ptr<RowSource> open_rows(const Model& model, const PredictRequest& request);

}  // namespace trainer::apply
