// SPDX-License-Identifier: Apache-2.0
#include "table/source/csv_text.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "table/error.h"

namespace trainer::data {
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
  has_ended_ = count < wanted;
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
