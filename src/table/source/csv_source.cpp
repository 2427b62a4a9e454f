// SPDX-License-Identifier: Apache-2.0
// Tables of CSV text: one file, or several with the same header, cut into chunks of cells.
#include "table/source/csv_source.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"

#include "table/error.h"
#include "table/source/chunk.h"
#include "table/source/csv_cursor.h"
#include "table/source/table_header.h"

namespace trainer::data {
namespace {

/// Cuts rows of text into the cells of chunks.
class CsvCutter {
 public:
  /// For a table with so many columns.
  CsvCutter(std::size_t num_columns, const std::vector<WantedColumn>& wanted)
      : columns_(num_columns), wanted_(wanted) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      columns_[wanted[i].index].use =
          wanted[i].type == CellType::kNumber ? Use::kNumber : Use::kText;
      columns_[wanted[i].index].in_chunk = i;
    }
    for (Column& column : columns_) {
      if (column.use == Use::kNumber) column.slot = num_numbers_++;
    }
    std::size_t run = 0;
    for (std::size_t i = columns_.size(); i-- > 0;) {
      run = columns_[i].use == Use::kNumber ? run + 1 : 0;
      columns_[i].num_numbers = run;
    }
  }

  /// The rows of `cursor`, from the one on that it is at, as long as they are in its file; all that
  /// are before an error, which it returns.
  std::exception_ptr cut(CsvCursor& cursor, int64_t max_rows, Chunk& chunk) const {
    begin(cursor, chunk);
    const int64_t num_rows = std::min(max_rows, max_rows_in_chunk());
    chunk.numbers.resize(static_cast<std::size_t>(num_rows) * num_numbers_);
    std::exception_ptr error;
    try {
      do {
        add_row(cursor, chunk);
      } while (chunk.num_rows < num_rows && cursor.begin_row());
    } catch (const Error&) {
      error = std::current_exception();
      drop_last_row(chunk);
    }
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      chunk.columns[i].numbers = chunk.numbers.data() + columns_[wanted_[i].index].slot;
    }
    return error;
  }

 private:
  enum class Use { kNone, kNumber, kText };
  struct Column {
    Use use = Use::kNone;
    std::size_t in_chunk = 0;
    std::size_t slot = 0;         // of a number in its row
    std::size_t num_numbers = 0;  // that follow each other from here on
  };

  // So that numbers are in the cache when they are used; some rows of the widest tables too.
  int64_t max_rows_in_chunk() const {
    constexpr std::size_t kMaxCells = 16'384;
    constexpr std::size_t kMinRows = 16;
    constexpr std::size_t kMaxRows = 2048;
    return static_cast<int64_t>(
        std::clamp(kMaxCells / std::max<std::size_t>(1, wanted_.size()), kMinRows, kMaxRows));
  }

  void begin(const CsvCursor& cursor, Chunk& chunk) const {
    chunk.num_rows = 0;
    chunk.columns.resize(wanted_.size());
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      chunk.columns[i].type = wanted_[i].type;
      chunk.columns[i].stride = num_numbers_;
      chunk.columns[i].texts.clear();
    }
    chunk.odd.clear();
    chunk.has_plain_numbers = true;
    chunk.malformed.clear();
    chunk.lines.clear();
    chunk.file = cursor.file();
    chunk.has_lines = cursor.has_lines();
  }

  void add_row(CsvCursor& cursor, Chunk& chunk) const {
    double* const numbers =
        chunk.numbers.data() + static_cast<std::size_t>(chunk.num_rows) * num_numbers_;
    std::size_t i = 0;
    while (i < columns_.size() && cursor.in_row()) {
      const Column& column = columns_[i];
      if (column.num_numbers > 0) {
        const std::size_t count =
            cursor.next_plain_numbers(std::span(numbers + column.slot, column.num_numbers));
        i += count;
        if (count > 0) continue;
      }
      const std::string_view field = cursor.next_field();
      if (column.use == Use::kText) {
        chunk.columns[column.in_chunk].texts.push_back(field);
      } else if (column.use == Use::kNumber) {
        chunk.odd.push_back({chunk.num_rows, column.in_chunk, field});
      }
      ++i;
    }
    if (i < columns_.size() || cursor.in_row()) add_malformed(cursor, chunk);
    chunk.lines.push_back(cursor.has_lines() ? cursor.row_line() : cursor.row());
    ++chunk.num_rows;
  }

  void add_malformed(CsvCursor& cursor, Chunk& chunk) const {
    const std::size_t num_fields = cursor.count_fields();
    chunk.malformed.emplace_back(
        chunk.num_rows,
        fmt::format("expected {} fields as in the header, got {}", columns_.size(), num_fields));
    resize_texts(chunk, chunk.num_rows + 1);
  }

  void drop_last_row(Chunk& chunk) const {
    resize_texts(chunk, chunk.num_rows);
    while (!chunk.odd.empty() && chunk.odd.back().row == chunk.num_rows) chunk.odd.pop_back();
  }

  static void resize_texts(Chunk& chunk, int64_t num_rows) {
    for (ChunkColumn& column : chunk.columns) {
      if (column.type == CellType::kText) column.texts.resize(static_cast<std::size_t>(num_rows));
    }
  }

  std::vector<Column> columns_;  // of the table
  std::vector<WantedColumn> wanted_;
  std::size_t num_numbers_ = 0;
};

/// Rows that were taken out of a file as they are written.
class TakenText : public ChunkStream {
 public:
  void take(CsvCursor& cursor, int64_t max_rows, int64_t first_number, const CsvCutter& cutter) {
    const TextOrigin origin = cursor.origin();
    next_number_ = first_number;
    num_rows_ = cursor.take_rows(max_rows, text_);
    cutter_ = &cutter;
    cursor_.emplace(origin, text_, cursor.format());
    error_ = nullptr;
  }

  int64_t num_rows() const { return num_rows_; }

  bool next(Chunk& chunk, int64_t max_rows) override {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    cursor_->release();
    if (!cursor_->begin_row()) return false;
    chunk.first_number = next_number_;
    error_ = cutter_->cut(*cursor_, max_rows, chunk);
    next_number_ += chunk.num_rows;
    return chunk.num_rows > 0 || next(chunk, max_rows);
  }

 private:
  CsvText text_;
  std::optional<CsvCursor> cursor_;
  const CsvCutter* cutter_ = nullptr;
  int64_t next_number_ = 1;
  int64_t num_rows_ = 0;
  std::exception_ptr error_;  // behind the last chunk
};

class CsvSource : public ChunkSource {
 public:
  CsvSource(std::string name, std::vector<std::string> files, const CsvFormat& format)
      : name_(std::move(name)), format_(format), files_(std::move(files)) {
    open_next();
    read_header();
    first_format_ = cursor_->format();
  }

  CsvSource(DataFile file, const CsvFormat& format)
      : name_(file.name()), format_(format), files_({file.name()}), num_opened_(1) {
    open(std::move(file));
    read_header();
    first_format_ = cursor_->format();
  }

  const std::string& name() const override { return name_; }
  const std::string& header_location() const override { return header_location_; }
  const std::vector<SourceColumn>& columns() const override { return columns_; }
  const CsvFormat& format() const override { return first_format_; }
  bool has_types() const override { return false; }
  // Not those of a database, and not those of a folder or pattern, of however many files.
  bool has_lines() const override { return is_one_file() && file_->has_lines(); }

  void start(const std::vector<WantedColumn>& wanted, Pass /*pass*/) override {
    if (has_started_) {
      fingerprints_.clear();
      num_opened_ = 0;
      num_rows_ = 0;
      error_ = nullptr;
      open_next();
      read_header();
    }
    has_started_ = true;
    cutter_.emplace(columns_.size(), wanted);
  }

  bool next(Chunk& chunk, int64_t max_rows) override {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    cursor_->release();
    if (!begin_row()) return false;
    chunk.first_number = num_rows_ + 1;
    error_ = cutter_->cut(*cursor_, max_rows, chunk);
    num_rows_ += chunk.num_rows;
    return chunk.num_rows > 0 || next(chunk, max_rows);
  }

  bool take(int64_t max_rows, std::shared_ptr<ChunkStream>& rows) override {
    cursor_->release();
    if (!begin_row()) return false;
    if (rows == nullptr) rows = std::make_shared<TakenText>();
    auto& taken = static_cast<TakenText&>(*rows);
    taken.take(*cursor_, max_rows, num_rows_ + 1, *cutter_);
    num_rows_ += taken.num_rows();
    return true;
  }

  uint64_t bytes_read() const override {
    uint64_t num_bytes = file_->bytes_read();
    for (const Fingerprint& file : fingerprints_) num_bytes += file.num_bytes;
    return num_bytes;
  }

  uint64_t size_hint() const override {
    if (is_one_file()) return file_->size_hint();
    uint64_t num_bytes = 0;
    for (const std::string& file : files_) {
      std::error_code unknown;
      const uintmax_t size = std::filesystem::file_size(file, unknown);
      num_bytes += unknown ? 0 : static_cast<uint64_t>(size);
    }
    return num_bytes;
  }

  // If all lines are as long as the first ones, and each cell takes a byte.
  int64_t num_rows_hint() const override {
    const auto num_bytes = static_cast<std::size_t>(file_->content_size_hint());
    const std::size_t num_rows = std::min(text_->num_lines_hint(), num_bytes / columns_.size() + 1);
    const double share = static_cast<double>(size_hint()) /
                         static_cast<double>(std::max<uint64_t>(1, file_->size_hint()));
    return static_cast<int64_t>(static_cast<double>(num_rows) * std::max(1.0, share));
  }

  std::vector<Fingerprint> fingerprints() override {
    std::vector<Fingerprint> all = fingerprints_;
    all.push_back(file_->fingerprint());
    return all;
  }

 private:
  bool is_one_file() const { return files_.size() == 1 && files_.front() == name_; }

  void open(DataFile file) {
    cursor_.reset();
    text_.reset();
    file_.reset();
    file_.emplace(std::move(file));
    text_.emplace(*file_);
    cursor_.emplace(TextOrigin{.file = file_->name(), .has_lines = file_->has_lines()}, *text_,
                    format_);
  }

  void open_next() { open(DataFile(files_[num_opened_++])); }

  void read_header() {
    if (!cursor_->begin_row()) throw data_error(file_->name(), "the file is empty");
    header_location_ = cursor_->location();
    columns_.clear();
    while (cursor_->in_row()) columns_.push_back({.name = std::string(cursor_->next_field())});
    require_good_names(header_location_, column_names(*this));
  }

  // In the next file where one ends.
  bool begin_row() {
    while (!cursor_->begin_row()) {
      if (num_opened_ == files_.size()) return false;
      fingerprints_.push_back(file_->fingerprint());
      const std::vector<std::string> expected = column_names(*this);
      const std::string location = header_location_;
      open_next();
      read_header();
      require_same_names(expected);
      header_location_ = location;
    }
    return true;
  }

  void require_same_names(const std::vector<std::string>& expected) const {
    const std::vector<std::string> names = column_names(*this);
    if (names == expected) return;
    const auto [wanted, got] =
        std::mismatch(expected.begin(), expected.end(), names.begin(), names.end());
    throw data_error(
        header_location_,
        fmt::format("expected the columns of {} in the same order, with {} in position {}, got {}",
                    files_.front(), wanted == expected.end() ? "nothing" : in_quotes(*wanted),
                    got - names.begin() + 1, got == names.end() ? "nothing" : in_quotes(*got)));
  }

  std::string name_;
  CsvFormat format_;        // as given
  CsvFormat first_format_;  // of the first file; other threads read with it when the next one opens
  std::vector<std::string> files_;
  std::size_t num_opened_ = 0;
  std::optional<DataFile> file_;
  std::optional<CsvText> text_;
  std::optional<CsvCursor> cursor_;
  std::string header_location_;
  std::vector<SourceColumn> columns_;
  std::optional<CsvCutter> cutter_;
  bool has_started_ = false;
  int64_t num_rows_ = 0;                   // given so far, of all files
  std::vector<Fingerprint> fingerprints_;  // of those before the open one
  std::exception_ptr error_;               // behind the last chunk
};

}  // namespace

std::unique_ptr<ChunkSource> open_csv(const std::string& name, std::vector<std::string> files,
                                      const CsvFormat& format) {
  return std::make_unique<CsvSource>(name, std::move(files), format);
}

std::unique_ptr<ChunkSource> open_csv(DataFile file, const CsvFormat& format) {
  return std::make_unique<CsvSource>(std::move(file), format);
}

}  // namespace trainer::data
