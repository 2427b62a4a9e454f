// SPDX-License-Identifier: Apache-2.0
#include "apply/rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/text.h"
#include "trainer/data/columns.h"
#include "trainer/data/csv_pieces.h"
#include "trainer/data/idx.h"

namespace trainer::apply {
namespace {

namespace fs = std::filesystem;

/// Data without columns (images, synthetic) can come as a table of its features.
std::vector<data::Column> columns_of(const data::Schema& schema) {
  if (!schema.columns.empty()) return schema.columns;
  std::vector<data::Column> columns;
  columns.reserve(schema.feature_names.size());
  for (const std::string& name : schema.feature_names) {
    columns.push_back({.name = name, .offset = schema.scaling.offset_of(columns.size())});
  }
  return columns;
}

std::string named(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() < kMost) shown.push_back(in_quotes(name));
  }
  if (names.size() > kMost) shown.push_back(fmt::format("{} more", names.size() - kMost));
  return joined(shown);
}

class CsvRows : public RowSource {
 public:
  CsvRows(const Model& model, const PredictRequest& request)
      : schema_(model.schema),
        name_(request.data == "-" ? "standard input" : request.data.string()),
        columns_(columns_of(model.schema)),
        pieces_(request.data, trained(), request.delimiter),
        num_unknown_(columns_.size()) {}

  std::vector<std::string> id_names() const override { return pieces_.id_names(); }

  std::vector<std::string> notes() const override {
    const std::vector<std::string> given = pieces_.names();
    const std::unordered_set<std::string> names(given.begin(), given.end());
    std::unordered_set<std::string> known(schema_.target_names.begin(), schema_.target_names.end());
    std::vector<std::string> lost;
    for (const data::Column& column : columns_) {
      known.insert(column.name);
      if (column.kind == data::ColumnKind::kId && !names.contains(column.name)) {
        lost.push_back(column.name);
      }
    }
    std::vector<std::string> further;
    for (const std::string& name : given) {
      if (!known.contains(name)) further.push_back(name);
    }
    std::vector<std::string> lines;
    if (!further.empty()) {
      lines.push_back(fmt::format("{}: the model was trained without {} {}; left out", name_,
                                  further.size() == 1 ? "column" : "columns", named(further)));
    }
    if (!lost.empty()) {
      const bool is_one = lost.size() == 1;
      lines.push_back(
          fmt::format("{}: the id {} {} {} not in the header, so the predictions are "
                      "without {}",
                      name_, is_one ? "column" : "columns", named(lost), is_one ? "is" : "are",
                      is_one ? "it" : "them"));
    }
    return lines;
  }

  bool next(int64_t max_rows, Rows& rows) override {
    // The memory of the rows before is used again.
    if (std::holds_alternative<std::vector<float>>(rows.features.values)) {
      std::swap(table_.features.values, rows.features.values);
    }
    std::swap(table_.ids, rows.ids);
    if (!pieces_.next(table_, max_rows)) return false;
    data::Encoded encoded = data::encode(columns_, schema_.unknown_category, table_);
    for (std::size_t i = 0; i < columns_.size(); ++i) num_unknown_[i] += encoded.num_unknown[i];
    rows.features = std::move(encoded.features);
    std::swap(rows.ids, table_.ids);
    return true;
  }

  std::vector<std::string> warnings() const override {
    return data::describe_unknown(columns_, num_unknown_, name_);
  }

  uint64_t bytes_read() const override { return pieces_.bytes_read(); }
  uint64_t likely_bytes() const override { return pieces_.likely_bytes(); }

 private:
  data::TrainedColumns trained() const {
    return {.columns = columns_,
            .targets = {},
            .ids = data::TrainedColumns::Ids::kKept,
            .delimiter_option = "--delimiter "};
  }

  const data::Schema& schema_;
  std::string name_;
  std::vector<data::Column> columns_;
  data::CsvPieces pieces_;
  data::Table table_;
  std::vector<int64_t> num_unknown_;
};

class ImageRows : public RowSource {
 public:
  ImageRows(const Model& model, const PredictRequest& request)
      : file_(data::read_idx(request.data)), width_(model.schema.num_features()) {
    int64_t num_pixels = 1;
    for (std::size_t i = 1; i < file_.sizes.size(); ++i) num_pixels *= file_.sizes[i];
    if (num_pixels == width_ && file_.sizes[0] > 0) return;
    throw Error(ErrorKind::kData,
                fmt::format("{}: expected images of {} pixels as in the training data, got {} "
                            "of {}",
                            request.data.string(), with_thousands(width_),
                            with_thousands(file_.sizes[0]), with_thousands(num_pixels)));
  }

  bool next(int64_t max_rows, Rows& rows) override {
    const int64_t count = std::min(max_rows, file_.sizes[0] - next_);
    if (count == 0) return false;
    const auto begin = file_.bytes.begin() + next_ * width_;
    rows.features = {count, width_, std::vector<uint8_t>(begin, begin + count * width_)};
    next_ += count;
    return true;
  }

  uint64_t bytes_read() const override { return static_cast<uint64_t>(next_ * width_); }
  uint64_t likely_bytes() const override { return file_.bytes.size(); }

 private:
  data::IdxFile file_;
  int64_t width_;
  int64_t next_ = 0;
};

/// IDX begins with two zeros, gzip with its own mark; a table with neither.
bool is_idx(const fs::path& path) {
  if (path == "-" || !fs::is_regular_file(path)) return false;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  const int first = std::fgetc(file);
  const int second = std::fgetc(file);
  std::fclose(file);
  constexpr int kGzipFirst = 0x1F;
  constexpr int kGzipSecond = 0x8B;
  return (first == 0 && second == 0) || (first == kGzipFirst && second == kGzipSecond);
}

}  // namespace

std::unique_ptr<RowSource> open_rows(const Model& model, const PredictRequest& request) {
  if (model.schema.columns.empty() && is_idx(request.data)) {
    return std::make_unique<ImageRows>(model, request);
  }
  return std::make_unique<CsvRows>(model, request);
}

}  // namespace trainer::apply
