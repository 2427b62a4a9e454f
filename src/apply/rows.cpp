// SPDX-License-Identifier: Apache-2.0
#include "apply/rows.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/text.h"
#include "trainer/data/columns.h"
#include "trainer/data/csv_pieces.h"
#include "trainer/data/data_file.h"
#include "trainer/data/idx.h"

namespace trainer::apply {
namespace {

/// Data without columns (images, synthetic) can come as a table of its features.
std::vector<data::Column> columns_of(const data::Schema& schema) {
  if (!schema.columns.empty()) return schema.columns;
  std::vector<data::Column> columns;
  columns.reserve(schema.feature_names.size());
  for (const std::string& name : schema.feature_names) columns.push_back({.name = name});
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
  CsvRows(const Model& model, const PredictRequest& request, data::DataFile file)
      : schema_(model.schema),
        name_(file.name()),
        columns_(columns_of(model.schema)),
        pieces_(std::move(file), trained(), request.format),
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
  ImageRows(const Model& model, data::DataFile file)
      : name_(file.name()),
        file_(data::read_idx(std::move(file))),
        width_(model.schema.num_features()) {
    int64_t num_pixels = 1;
    for (std::size_t i = 1; i < file_.sizes.size(); ++i) num_pixels *= file_.sizes[i];
    if (num_pixels == width_ && file_.sizes[0] > 0) return;
    throw Error(ErrorKind::kData,
                fmt::format("{}: expected images of {} pixels as in the training data, got {} "
                            "of {}",
                            name_, with_thousands(width_), with_thousands(file_.sizes[0]),
                            with_thousands(num_pixels)));
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
  std::string name_;
  data::IdxFile file_;
  int64_t width_;
  int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<RowSource> open_rows(const Model& model, const PredictRequest& request) {
  data::DataFile file(request.data, data::DataFile::Kind::kAny);
  if (model.schema.columns.empty() && file.begins_as_idx()) {
    return std::make_unique<ImageRows>(model, std::move(file));
  }
  return std::make_unique<CsvRows>(model, request, std::move(file));
}

}  // namespace trainer::apply
