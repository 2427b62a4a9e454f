// SPDX-License-Identifier: Apache-2.0
#include "data/csv_source.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/format.h"

#include "data/column_names.h"
#include "data/error.h"

namespace trainer::data {

CsvSource::CsvSource(std::string name, std::vector<std::string> files, const CsvFormat& format)
    : name_(std::move(name)), format_(format), files_(std::move(files)) {
  open_next();
}

CsvSource::CsvSource(DataFile file, const CsvFormat& format)
    : name_(file.name()), format_(format), files_({file.name()}), num_opened_(1) {
  open(std::move(file));
}

void CsvSource::open(DataFile file) {
  cursor_.reset();
  text_.reset();
  file_.reset();
  file_.emplace(std::move(file));
  text_.emplace(*file_);
  cursor_.emplace(TextOrigin{.file = file_->name(), .has_lines = is_text()}, *text_, format_);
}

void CsvSource::open_next() { open(DataFile(files_[num_opened_++])); }

std::string CsvSource::find_header() {
  if (!cursor_->begin_row()) throw data_error(file_->name(), "the file is empty");
  return cursor_->location();
}

const std::vector<std::string>& CsvSource::read_names(const std::string& location) {
  names_.clear();
  while (cursor_->in_row()) names_.emplace_back(cursor_->next_field());
  require_good_names(location, names_);
  return names_;
}

bool CsvSource::begin_row_of_next() {
  do {
    if (num_opened_ == files_.size()) return false;
    fingerprints_.push_back(file_->fingerprint());
    const std::vector<std::string> expected = names_;
    open_next();
    const std::string at = find_header();
    require_same_names(at, expected, read_names(at));
  } while (!cursor_->begin_row());
  return true;
}

void CsvSource::require_same_names(const std::string& location,
                                   const std::vector<std::string>& expected,
                                   const std::vector<std::string>& names) const {
  if (names == expected) return;
  const auto [wanted, got] =
      std::mismatch(expected.begin(), expected.end(), names.begin(), names.end());
  throw data_error(
      location,
      fmt::format("expected the columns of {} in the same order, with {} in position {}, got {}",
                  files_.front(), wanted == expected.end() ? "nothing" : in_quotes(*wanted),
                  got - names.begin() + 1, got == names.end() ? "nothing" : in_quotes(*got)));
}

int64_t CsvSource::take_rows(int64_t max_rows, CsvPiece& piece) {
  piece.origin = cursor_->origin();
  piece.format = cursor_->format();
  return cursor_->take_rows(max_rows, piece.text);
}

uint64_t CsvSource::bytes_read() const {
  uint64_t num_bytes = file_->bytes_read();
  for (const Fingerprint& file : fingerprints_) num_bytes += file.num_bytes;
  return num_bytes;
}

uint64_t CsvSource::size_hint() const {
  if (is_one_file()) return file_->size_hint();
  uint64_t num_bytes = 0;
  for (const std::string& file : files_) {
    std::error_code unknown;
    const uintmax_t size = std::filesystem::file_size(file, unknown);
    num_bytes += unknown ? 0 : static_cast<uint64_t>(size);
  }
  return num_bytes;
}

size_t CsvSource::num_rows_hint(size_t num_columns) const {
  const auto num_bytes = static_cast<size_t>(file_->content_size_hint());
  const size_t num_rows = std::min(text_->num_lines_hint(), num_bytes / num_columns + 1);
  const double share = static_cast<double>(size_hint()) /
                       static_cast<double>(std::max<uint64_t>(1, file_->size_hint()));
  return static_cast<size_t>(static_cast<double>(num_rows) * std::max(1.0, share));
}

std::vector<Fingerprint> CsvSource::fingerprints() {
  std::vector<Fingerprint> all = fingerprints_;
  all.push_back(file_->fingerprint());
  return all;
}

}  // namespace trainer::data
