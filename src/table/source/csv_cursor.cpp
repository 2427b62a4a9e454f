// SPDX-License-Identifier: Apache-2.0
#include "table/source/csv_cursor.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"

#include "table/error.h"
#include "table/source/number_text.h"

namespace trainer::data {
namespace {

// A number with more digits than to_double() knows, as numpy.savetxt writes; nullptr for all that
// is rare, which next_field() and parse_double() read.
const char* read_long_number([[maybe_unused]] const char* p, [[maybe_unused]] const char* limit,
                             [[maybe_unused]] double& value) {
#if defined(__cpp_lib_to_chars)
  constexpr double kMax = 1e37;  // a float holds it
  const auto [end, problem] = std::from_chars(p, limit, value);
  if (problem == std::errc() && std::abs(value) <= kMax) return end;
#endif
  return nullptr;
}

}  // namespace

CsvCursor::CsvCursor(const TextOrigin& origin, CsvText& text, const CsvFormat& format)
    : file_(origin.file),
      has_lines_(origin.has_lines),
      text_(text),
      format_(format),
      position_(text.begin()),
      row_begin_(position_),
      line_(origin.line),
      row_line_(origin.line),
      num_rows_(origin.num_rows) {
  if (num_rows_ > 0) return;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (std::string_view(text.begin(), text.end()).starts_with(kByteOrderMark)) {
    position_ += kByteOrderMark.size();
  }
  skip_separator_line();
  row_begin_ = position_;
}

std::string CsvCursor::location() const {
  if (has_lines_) return fmt::format("{}:{}", file_, row_line_);
  return row() <= 0 ? file_ : fmt::format("{}: row {}", file_, row());  // 0: the header
}

void CsvCursor::skip_separator_line() {
  constexpr std::string_view kBegin = "sep=";
  const std::string_view text(position_, text_.end());
  const bool fits = text.size() > kBegin.size() + 1 && text.starts_with(kBegin);
  if (!fits || (text[kBegin.size() + 1] != '\n' && text[kBegin.size() + 1] != '\r')) return;
  format_.delimiter = text[kBegin.size()];
  position_ = after_line_break(position_ + kBegin.size() + 1);
}

bool CsvCursor::begin_row() {
  while (!begin_row_in_window()) {
    if (!read_on(position_)) return false;
  }
  return true;
}

bool CsvCursor::begin_row_in_window() {
  for (;;) {
    row_begin_ = position_;
    const char* p = position_;
    while (is_blank(*p)) ++p;
    if (*p == '\0') return false;
    if (*p != '\n' && *p != '\r') break;
    position_ = after_line_break(p);
  }
  row_line_ = line_;
  ++num_rows_;
  field_ = 0;
  in_row_ = true;
  return true;
}

std::string_view CsvCursor::next_field() {
  ++field_;
  const char* begin = position_;
  while (is_blank(*begin)) ++begin;
  if (*begin == '"') return quoted_field(begin + 1);
  const char* end = begin;
  while (!ends_field(*end)) ++end;
  end_field(end);
  while (end > begin && is_blank(end[-1])) --end;
  return {begin, static_cast<size_t>(end - begin)};
}

template <bool IsUsual>
const char* CsvCursor::read_dressed_number(const char* p, double& value) const {
  const char mark = IsUsual ? '.' : format_.decimal;
  while (is_blank(*p)) ++p;
  const bool quoted = *p == '"';
  if (quoted) ++p;
  while (quoted && is_blank(*p)) ++p;
  Decimal decimal;
  p = read_exponent(read_decimal(p, decimal, mark), decimal);
  if (p == nullptr || !is_simple(decimal)) return nullptr;
  while (quoted && is_blank(*p)) ++p;
  if (quoted && *p != '"') return nullptr;
  if (quoted) ++p;
  while (is_blank(*p)) ++p;
  value = to_double(decimal);
  return p;
}

// What is not known before it is compiled takes up to a fifth of the time.
template <bool IsUsual>
size_t CsvCursor::read_plain_numbers(std::span<double> values) {
  const char* p = position_;
  const char mark = IsUsual ? '.' : format_.decimal;
  size_t count = 0;
  while (count < values.size()) {
    Decimal decimal;
    double& number = values[count];
    const char* end = read_decimal(p, decimal, mark);
    if (has_exact_digits(decimal) && ends_field(*end)) {
      number = to_double(decimal);
    } else {
      const bool is_long = IsUsual && decimal.num_digits > kMaxExactDigits;
      end = is_long ? read_long_number(p, text_.end(), number)
                    : read_dressed_number<IsUsual>(p, number);
      if (end == nullptr || !ends_field(*end)) break;
    }
    if (!IsUsual && format_.missing.contains(number)) break;
    ++count;
    if (*end != format_.delimiter) {
      field_ += static_cast<int64_t>(count);
      end_field(end);
      return count;
    }
    p = end + 1;
  }
  field_ += static_cast<int64_t>(count);
  position_ = p;
  return count;
}

size_t CsvCursor::next_plain_numbers(std::span<double> values) {
  const bool is_usual = format_.decimal == '.' && !format_.missing.has_numbers();
  return is_usual ? read_plain_numbers<true>(values) : read_plain_numbers<false>(values);
}

void CsvCursor::release() {
  text_.release();
  unescaped_.clear();
}

std::string_view CsvCursor::quoted_field(const char* position) {
  const int64_t first_line = line_;
  bool has_doubled = false;
  const char* p = position;
  for (;;) {
    if (*p == '\0') {
      const std::ptrdiff_t num_passed = p - position;
      if (!read_on(p)) {
        throw data_error(fmt::format("{}:{}", file_, first_line),
                         fmt::format("field {}: unclosed quote", field_));
      }
      position = p - num_passed;
    } else if (*p == '\n' || *p == '\r') {
      p = after_line_break(p);
    } else if (*p++ == '"') {
      if (*p != '"') break;
      has_doubled = true;
      ++p;
    }
  }
  const std::string_view field(position, static_cast<size_t>(p - 1 - position));
  end_quoted_field(p);
  if (!has_doubled) return field;
  std::string& unescaped = unescaped_.emplace_back();
  for (size_t i = 0; i < field.size(); ++i) {
    unescaped += field[i];
    if (field[i] == '"') ++i;  // the second one
  }
  return unescaped;
}

// The row stays in the window, and `position` is where it was in the row.
bool CsvCursor::read_on(const char*& position) {
  const std::ptrdiff_t offset = position - row_begin_;
  const char* begin = text_.read_on(row_begin_);
  if (begin == nullptr) return false;
  row_begin_ = begin;
  position = begin + offset;
  return true;
}

void CsvCursor::end_quoted_field(const char* position) {
  while (is_blank(*position)) ++position;
  if (ends_field(*position)) {
    end_field(position);
    return;
  }
  const char* end = position;
  while (!ends_field(*end)) ++end;
  throw data_error(fmt::format("{}:{}", file_, line_),
                   fmt::format("field {}: expected a delimiter after the closing quote, got {}; "
                               "double a quote inside a quoted field",
                               field_, in_quotes({position, static_cast<size_t>(end - position)})));
}

void CsvCursor::rewind_row() {
  position_ = row_begin_;
  line_ = row_line_;
  field_ = 0;
  in_row_ = true;
}

size_t CsvCursor::count_fields() {
  rewind_row();
  while (in_row_) next_field();
  return static_cast<size_t>(field_);
}

int64_t CsvCursor::take_rows(int64_t max_rows, CsvText& taken) {
  if (!skip_row()) count_fields();  // which reads on
  const char* const begin = row_begin_;
  int64_t count = 1;
  while (count < max_rows && begin_row_in_window()) {
    if (!skip_row()) {
      rewind_row();
      --num_rows_;
      break;
    }
    ++count;
  }
  in_row_ = false;
  taken.assign({begin, position_});
  return count;
}

// False, and nothing is skipped, where the row does not end in the window.
bool CsvCursor::skip_row() {
  const char* p = row_begin_;
  for (;;) {
    p += std::strcspn(p, "\"\r\n");
    if (*p != '"') break;
    const char* field = p;
    while (field > row_begin_ && is_blank(field[-1])) --field;
    const bool is_opening = field == row_begin_ || field[-1] == format_.delimiter;
    p = is_opening ? skip_quoted(p + 1) : p + 1;
    if (p == nullptr) return false;
  }
  position_ = *p == '\0' ? p : after_line_break(p);
  return true;
}

// Behind the quote that closes the field, or nullptr where that is not in the window.
const char* CsvCursor::skip_quoted(const char* position) {
  const char* p = position;
  for (;;) {
    p += std::strcspn(p, "\"\r\n");
    if (*p == '\0') break;
    if (*p != '"') {
      p = after_line_break(p);
    } else if (*++p != '"') {
      return p;
    } else {
      ++p;  // doubled: the second one is content
    }
  }
  return nullptr;
}

namespace {

size_t count_line_breaks(const char* begin, const char* end) {
  return static_cast<size_t>(std::count(begin, end, '\n'));
}

}  // namespace

CsvText::CsvText(DataFile& file, size_t block_bytes)
    : file_(&file), block_bytes_(std::max<size_t>(block_bytes, 1)) {
  do {
    fill();
  } while (!find_end(0));
  require_text(0);
}

void CsvText::assign(std::string_view text) {
  buffer_.reserve(text.size() + 1);
  buffer_.assign(text.begin(), text.end());
  buffer_.push_back('\0');
  filled_ = end_ = text.size();
}

const char* CsvText::read_on(const char* keep) {
  if (has_ended_ && end_ == filled_) return nullptr;
  const auto dropped = static_cast<size_t>(keep - begin());
  buffer_[end_] = behind_;
  std::vector<char> next = std::move(spare_);
  next.resize(std::max(next.size(), buffer_.size()));
  std::copy(keep, begin() + filled_, next.begin());
  earlier_.push_back(std::exchange(buffer_, std::move(next)));
  filled_ -= dropped;
  const size_t old_end = end_ - dropped;
  const size_t old_filled = filled_;
  do {
    fill();
  } while (!find_end(old_end));
  require_text(old_filled);
  return begin();
}

void CsvText::release() {
  if (earlier_.empty()) return;
  spare_ = std::move(earlier_.back());
  earlier_.clear();
}

// A row that is longer than a block is read in ever larger steps, lest it be looked through often.
void CsvText::fill() {
  if (has_ended_) return;
  const size_t wanted = std::max(block_bytes_, filled_);
  if (buffer_.size() < filled_ + wanted + 1) buffer_.resize(filled_ + wanted + 1);
  const size_t count =
      file_->read(std::as_writable_bytes(std::span(buffer_).subspan(filled_, wanted)));
  filled_ += count;
  has_ended_ = count < (file_->is_followed() ? 1 : wanted);
}

// The window ends behind the last line break from `from` on. A CR may be the first half of a line
// break, so it counts only where its next byte is known, and only where there is no LF.
bool CsvText::find_end(size_t from) {
  const std::string_view added(begin() + from, filled_ - from);
  size_t found = added.rfind('\n');
  if (found == std::string_view::npos && added.size() > 1)
    found = added.rfind('\r', added.size() - 2);
  if (has_ended_) {
    end_ = filled_;
  } else if (found != std::string_view::npos) {
    end_ = from + found + 1;
  } else {
    return false;
  }
  behind_ = buffer_[end_];
  buffer_[end_] = '\0';
  return true;
}

// Of what was read from `from` on. The NUL at the end of the window is our own.
void CsvText::require_text(size_t from) {
  buffer_[end_] = behind_;
  const char* first = begin() + from;
  const void* nul = std::memchr(first, '\0', filled_ - from);
  const char* last = nul == nullptr ? begin() + filled_ : static_cast<const char*>(nul);
  num_line_breaks_ += static_cast<int64_t>(count_line_breaks(first, last));
  buffer_[end_] = '\0';
  if (nul == nullptr) return;
  throw data_error(fmt::format("{}:{}", file_->name(), num_line_breaks_ + 1),
                   "NUL byte: this is not UTF-8 text; convert a table saved as UTF-16");
}

size_t CsvText::num_lines_hint() const {
  const size_t num_lines = count_line_breaks(begin(), end()) + 1;
  if (has_ended_ && end_ == filled_) return num_lines;
  const double share = static_cast<double>(file_->content_size_hint()) / static_cast<double>(end_);
  return static_cast<size_t>(static_cast<double>(num_lines) * std::max(share, 1.0));
}

}  // namespace trainer::data
