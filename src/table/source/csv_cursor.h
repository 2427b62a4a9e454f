// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/table/source/csv_format.h"
#include "trainer/table/source/data_file.h"

namespace trainer::data {

/// The text of a CSV file, read once from begin to end. Only a window of it lies in memory, which
/// ends behind a line break, or with the file, and stands before a NUL: whoever looks for the end
/// of a line or of a field finds it without comparing positions.
class CsvText {
 public:
  static constexpr size_t kBlockBytes = size_t{1} << 20;  // what a second level cache holds

  /// Reads `block_bytes` at once; a longer row takes more. Throws Error(kData) for a NUL byte, here
  /// and in read_on().
  explicit CsvText(DataFile& file, size_t block_bytes = kBlockBytes);
  /// Without a file: all of it is what assign() says.
  CsvText() : file_(nullptr), block_bytes_(kBlockBytes), has_ended_(true) { assign({}); }

  /// Replaces a text without a file.
  void assign(std::string_view text);

  /// Where the window begins and ends.
  const char* begin() const { return buffer_.data(); }
  const char* end() const { return buffer_.data() + end_; }

  /// Moves the window on: it begins with what stood at `keep` and ends later than before. Returns
  /// begin(), or nullptr at the end of the file, and then nothing has changed. What was in the
  /// window stays in memory until release().
  const char* read_on(const char* keep);
  /// Frees the memory of earlier windows.
  void release();

  /// About as many lines as the file has, if all are as long as the first ones.
  size_t num_lines_hint() const;

 private:
  void fill();
  bool find_end(size_t from);
  void require_text(size_t from);

  DataFile* file_;
  size_t block_bytes_;
  std::vector<char> buffer_;
  std::vector<std::vector<char>> earlier_;  // buffers
  std::vector<char> spare_;                 // one that nobody needs
  size_t filled_ = 0;                       // bytes of the file in the buffer
  size_t end_ = 0;                          // of the window
  char behind_ = '\0';                      // what the file has at end()
  bool has_ended_ = false;                  // the file
  int64_t num_line_breaks_ = 0;             // passed by fill()
};

/// Where a text begins.
struct TextOrigin {
  std::string file;       // for messages
  bool has_lines = true;  // that people can look at; else rows have numbers
  int64_t line = 1;       // of the file
  int64_t num_rows = 0;   // of the file before it, the header among them
};

/// Walks once over a CSV file, field by field, without a copy of what it passes.
///
///   while (cursor.begin_row()) {
///     while (cursor.in_row()) use(cursor.next_field());
///   }
class CsvCursor {
 public:
  /// `text`, at its beginning, must outlive the cursor. At the begin of a file, a first line
  /// `sep=;`, as Excel writes and reads it, is no row, and its delimiter counts.
  CsvCursor(const TextOrigin& origin, CsvText& text, const CsvFormat& format);

  const CsvFormat& format() const { return format_; }
  const std::string& file() const { return file_; }
  bool has_lines() const { return has_lines_; }

  /// Goes to the next line that is not blank; false at the end of the text.
  bool begin_row();
  /// Whether the row has another field.
  bool in_row() const { return in_row_; }
  /// Where the row begins, counted from 1.
  int64_t row_line() const { return row_line_; }

  /// Which row of the file it is, counted from 0: the header.
  int64_t row() const { return num_rows_ - 1; }
  /// Where the row begins, "file:line", or "file: row number" without lines.
  std::string location() const;

  /// The next field without its quotes, good until release(). Throws Error(kData) for an
  /// unclosed quote and for text after a closing quote.
  std::string_view next_field();

  /// Reads fields into `values` as long as they are plain numbers that stand for themselves, as
  /// nearly all do, at most to the end of the row; says how many. The field behind them is still to
  /// be read.
  size_t next_plain_numbers(std::span<double> values);

  /// Frees the memory of the fields so far.
  void release();

  /// The number of fields in the row, from its beginning. Ends the row.
  size_t count_fields();

  /// Copies rows to `taken`, from the beginning of this one on, at most `max_rows`, and goes behind
  /// them. Says how many these are, at least one. Their cells are not looked at: an error in a
  /// quote is thrown if it hides the end of this row, others are left to who reads the rows.
  int64_t take_rows(int64_t max_rows, CsvText& taken);
  /// Where the row begins, for a cursor over what take_rows() gives.
  TextOrigin origin() const { return {file_, has_lines_, row_line_, row()}; }

 private:
  bool ends_field(char c) const {
    return c == format_.delimiter || c == '\n' || c == '\r' || c == '\0';
  }
  bool is_blank(char c) const { return (c == ' ' || c == '\t') && c != format_.delimiter; }
  // Goes back to the beginning of the row.
  void rewind_row();
  void skip_separator_line();
  bool begin_row_in_window();
  bool skip_row();
  const char* skip_quoted(const char* position);
  void end_field(const char* position);
  /// IsUsual: with a decimal point, and no number stands for a missing value.
  template <bool IsUsual>
  size_t read_plain_numbers(std::span<double> values);
  /// A plain number with an exponent, in quotes or between blanks: where its field ends, or
  /// nullptr.
  template <bool IsUsual>
  const char* read_dressed_number(const char* p, double& value) const;
  const char* after_line_break(const char* position);
  bool read_on(const char*& position);
  std::string_view quoted_field(const char* position);
  void end_quoted_field(const char* position);

  std::string file_;
  bool has_lines_;
  CsvText& text_;
  CsvFormat format_;
  const char* position_;
  const char* row_begin_;
  int64_t line_;
  int64_t row_line_;
  int64_t num_rows_;   // begun
  int64_t field_ = 0;  // within the row, from 1
  bool in_row_ = false;
  std::deque<std::string> unescaped_;  // quoted fields with doubled quotes
};

inline const char* CsvCursor::after_line_break(const char* position) {
  ++line_;
  const bool two_bytes = position[0] == '\r' && position[1] == '\n';
  return position + (two_bytes ? 2 : 1);
}

inline void CsvCursor::end_field(const char* position) {
  if (*position == format_.delimiter) {
    position_ = position + 1;
    return;
  }
  in_row_ = false;
  position_ = *position == '\0' ? position : after_line_break(position);
}

}  // namespace trainer::data
