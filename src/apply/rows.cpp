// SPDX-License-Identifier: Apache-2.0
#include "apply/rows.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/table/schema/column_notes.h"
#include "trainer/table/schema/drift.h"
#include "trainer/table/schema/encode.h"
#include "trainer/table/source/data_file.h"
#include "trainer/table/source/idx.h"
#include "trainer/table/source/npy.h"
#include "trainer/table/source/table_source.h"

namespace trainer::apply {
namespace {

namespace fs = std::filesystem;

std::string named(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  quoted.reserve(names.size());
  for (const std::string& name : names) quoted.push_back(in_quotes(name));
  return joined_some(quoted);
}

class TableRows : public RowSource {
 public:
  /// Reads the files of a folder or a pattern, or a table that DuckDB reads.
  TableRows(const Model& model, const PredictRequest& request, const data::TableSource& source)
      : TableRows(model, request, data::source_name(source)) {
    pieces_ = std::make_unique<data::TableReader>(source, trained());
    files_ = data::describe_files(source.path);
  }

  /// Reads CSV text from one file.
  TableRows(const Model& model, const PredictRequest& request, data::DataFile file)
      : TableRows(model, request, file.name()) {
    pieces_ = std::make_unique<data::TableReader>(std::move(file), request.data.format, trained());
  }

  std::vector<std::string> id_names() const override { return pieces_->id_names(); }

  std::vector<std::string> id_types() const override { return pieces_->id_types(); }

  std::vector<std::string> notes() const override {
    const std::vector<std::string> given = pieces_->names();
    const std::vector<std::string> carried = pieces_->id_names();
    const std::unordered_set<std::string> names(given.begin(), given.end());
    std::unordered_set<std::string> known(schema_.target_names.begin(), schema_.target_names.end());
    known.insert(carried.begin(), carried.end());
    std::vector<std::string> lost;
    for (const data::Column& column : columns_) {
      known.insert(data::source_of(column));
      if (column.kind == data::ColumnKind::kId && !names.contains(column.name)) {
        lost.push_back(column.name);
      }
    }
    std::vector<std::string> further;
    for (const std::string& name : given) {
      if (!known.contains(name)) further.push_back(name);
    }
    std::vector<std::string> lines = files_;
    if (!further.empty()) {
      lines.push_back(fmt::format("{}: ignoring {} {} that the training data did not have", name_,
                                  further.size() == 1 ? "column" : "columns", named(further)));
    }
    if (!lost.empty()) {
      const bool is_one = lost.size() == 1;
      lines.push_back(
          fmt::format("{}: the id {} {} {} not in the header; the predictions do not contain {}",
                      name_, is_one ? "column" : "columns", named(lost), is_one ? "is" : "are",
                      is_one ? "it" : "them"));
    }
    return lines;
  }

  bool take(int64_t max_rows, Rows& rows) override {
    data::Table& table = rows.piece.table;
    // Returns the memory of the previous rows in this slot to the table, which reuses it.
    if (std::holds_alternative<Array<float>>(rows.features.values)) {
      std::swap(table.features.values, rows.features.values);
    }
    std::swap(table.ids, rows.ids);
    rows.piece.collects_bad = on_error_ == OnError::kSkip;
    return pieces_->take(max_rows, rows.piece);
  }

  void read(Rows& rows) override {
    data::Table& table = rows.piece.table;
    pieces_->read(rows.piece);
    drift_.add(table);
    data::Encoded encoded =
        data::encode(columns_, schema_.unknown_category, table,
                     rows.piece.collects_bad ? data::OnBadCell::kCollect : data::OnBadCell::kThrow);
    rows.features = std::move(encoded.features);
    std::swap(rows.ids, table.ids);
    rows.lines = table.lines;
    rows.bad = rows.piece.bad;
    if (!encoded.bad_rows.empty()) leave_out(encoded.bad_rows, rows);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < columns_.size(); ++i) num_unknown_[i] += encoded.num_unknown[i];
  }

  void require_rows() const override { pieces_->require_rows(); }

  std::vector<std::string> warnings() const override {
    return data::describe_unknown(columns_, num_unknown_, name_);
  }

  std::vector<std::string> differences() const override { return drift_.differences(); }

  uint64_t bytes_read() const override { return pieces_->bytes_read(); }
  uint64_t size_hint() const override { return pieces_->size_hint(); }

 private:
  /// Removes rows that encode() found bad, and adds them to `rows.bad`, which is sorted by line.
  static void leave_out(const std::vector<std::pair<int64_t, std::string>>& bad_rows, Rows& rows) {
    const Array<int64_t>& lines = rows.piece.table.lines;
    const std::size_t num_ids = rows.piece.table.id_names.size();
    std::vector<int64_t> good;
    auto next_bad = bad_rows.begin();
    for (int64_t row = 0; row < rows.features.num_rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      if (next_bad != bad_rows.end() && next_bad->first == row) {
        rows.bad.push_back({lines[at], next_bad->second});
        ++next_bad;
        continue;
      }
      rows.lines[good.size()] = lines[at];
      for (std::size_t i = 0; i < num_ids; ++i) {
        if (good.size() == at) break;  // no row before it was removed, so it need not move
        rows.ids[good.size() * num_ids + i] = std::move(rows.ids[at * num_ids + i]);
      }
      good.push_back(row);
    }
    rows.ids.resize(good.size() * num_ids);
    rows.lines.resize(good.size());
    data::keep_rows(rows.features, good);
    std::sort(rows.bad.begin(), rows.bad.end(),
              [](const data::BadRow& a, const data::BadRow& b) { return a.line < b.line; });
  }

  TableRows(const Model& model, const PredictRequest& request, std::string name)
      : schema_(model.schema),
        name_(std::move(name)),
        columns_(make_columns(model.schema)),
        kept_(request.kept),
        on_error_(request.on_error),
        drift_(columns_),
        num_unknown_(columns_.size()) {}

  data::TrainedColumns trained() const {
    return {.columns = columns_,
            .targets = {},
            .ids = data::TrainedColumns::Ids::kKept,
            .kept = kept_,
            .delimiter_option = "--delimiter "};
  }

  const data::Schema& schema_;
  std::string name_;
  std::vector<std::string> files_;  // data::describe_files(): lines about the files of a folder
  std::vector<data::Column> columns_;
  std::vector<std::string> kept_;
  OnError on_error_;
  std::unique_ptr<data::TableReader> pieces_;
  data::DriftCounter drift_;  // of columns_
  std::mutex mutex_;          // guards num_unknown_
  std::vector<int64_t> num_unknown_;
};

/// Images and arrays, whose rows are already features.
class MatrixRows : public RowSource {
 public:
  MatrixRows(const data::Schema& schema, data::Matrix features, const fs::path& file)
      : features_(std::move(features)) {
    require_width(schema, features_.num_columns, file);
    data::subtract_offsets(features_, schema.scaling.offset);  // changes bytes of images only
  }

  bool take(int64_t max_rows, Rows& rows) override {
    const int64_t count = std::min(max_rows, features_.num_rows - next_);
    if (count == 0) return false;
    rows.features = {.num_rows = count, .num_columns = features_.num_columns, .values = {}};
    std::visit(
        [&](const auto& values) {
          const auto begin = values.begin() + next_ * features_.num_columns;
          rows.features.values =
              std::decay_t<decltype(values)>(begin, begin + count * features_.num_columns);
        },
        features_.values);
    rows.lines.resize(static_cast<std::size_t>(count));
    std::iota(rows.lines.begin(), rows.lines.end(), next_ + 1);
    next_ += count;
    return true;
  }

  // Counts rows in place of bytes, as only the ratio of the two is shown.
  uint64_t bytes_read() const override { return static_cast<uint64_t>(next_); }
  uint64_t size_hint() const override { return static_cast<uint64_t>(features_.num_rows); }

 private:
  data::Matrix features_;
  int64_t next_ = 0;
};

data::Matrix make_image_matrix(data::IdxFile file) {
  int64_t num_pixels = 1;
  for (std::size_t i = 1; i < file.sizes.size(); ++i) num_pixels *= file.sizes[i];
  return {.num_rows = file.sizes[0], .num_columns = num_pixels, .values = std::move(file.bytes)};
}

void refuse_kept(const PredictRequest& request) {
  if (request.kept.empty()) return;
  throw Error(ErrorKind::kUsage, fmt::format("--keep: {} has no named columns; remove this option",
                                             data::source_name(request.data)));
}

}  // namespace

bool RowSource::next(int64_t max_rows, Rows& rows) {
  if (!take(max_rows, rows)) {
    require_rows();
    return false;
  }
  read(rows);
  return true;
}

std::vector<data::Column> make_columns(const data::Schema& schema) {
  if (!schema.columns.empty()) return schema.columns;
  std::vector<data::Column> columns;
  columns.reserve(schema.feature_names.size());
  for (const std::string& name : schema.feature_names) {
    columns.push_back({.name = name, .offset = schema.scaling.offset_of(columns.size())});
  }
  return columns;
}

bool is_idx(const fs::path& path) {
  return path != "-" && fs::is_regular_file(path) && data::DataFile(path).begins_as_idx();
}

void refuse_array(const fs::path& path) {
  throw Error(
      ErrorKind::kData,
      fmt::format(
          "{}: expected a CSV file, because the model was trained on a table; got a NumPy array",
          path.string()));
}

void require_width(const data::Schema& schema, int64_t width, const fs::path& file) {
  if (width == schema.num_features()) return;
  throw Error(ErrorKind::kData,
              fmt::format("{}: expected {} per row as in the training data, got {}", file.string(),
                          counted(schema.num_features(), "feature"), with_thousands(width)));
}

std::unique_ptr<RowSource> open_rows(const Model& model, const PredictRequest& request) {
  const bool is_table = !model.schema.columns.empty();
  if (data::is_npy(request.data.path)) {
    if (is_table) refuse_array(request.data.path);
    refuse_kept(request);
    return std::make_unique<MatrixRows>(
        model.schema,
        data::read_npy_features(request.data.path, &model.schema.scaling.offset).elements,
        request.data.path);
  }
  if (!data::is_one_text(request.data)) {
    return std::make_unique<TableRows>(model, request, request.data);
  }
  data::DataFile file(request.data.path, request.follows ? data::DataFile::Kind::kFollowed
                                                         : data::DataFile::Kind::kAny);
  if (!is_table && file.begins_as_idx()) {
    refuse_kept(request);
    const std::string name = file.name();
    return std::make_unique<MatrixRows>(model.schema,
                                        make_image_matrix(data::read_idx(std::move(file))), name);
  }
  return std::make_unique<TableRows>(model, request, std::move(file));
}

}  // namespace trainer::apply
