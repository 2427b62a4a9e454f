// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/inspect.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "trainer/core/text.h"
#include "trainer/data/csv.h"

#include "data/csv_cursor.h"
#include "data/csv_header.h"
#include "data/csv_text.h"
#include "data/file_bytes.h"

namespace trainer::data {
namespace {

constexpr size_t kMaxLabelBytes = 1000;

/// Collects the facts of one column, cell by cell.
class Collector {
 public:
  explicit Collector(std::string name) { facts_.name = std::move(name); }

  void add(std::string_view field, int64_t line) {
    if (is_missing(field)) {
      ++facts_.num_missing;
      return;
    }
    if (facts_.num_values() == 0) facts_.first_value = field;
    const std::optional<double> number = parse_double(field);
    if (number && std::isfinite(*number)) {
      add_number(*number);
    } else {
      add_text(field, line);
    }
    count_different(field);
  }

  ColumnFacts take() {
    if (facts_.num_numbers > 0 && !facts_.is_whole) facts_.num_different = 0;
    if (facts_.num_different > kMaxLabels || !facts_.is_whole) labels_.clear();
    facts_.labels.resize(labels_.size());
    for (const auto& [text, label] : labels_) facts_.labels[label.place] = {text, label.count};
    facts_.is_counting = facts_.is_counting && facts_.is_whole && facts_.num_numbers > 0;
    return std::move(facts_);
  }

 private:
  struct Label {
    size_t place;
    int64_t count;
  };

  void add_number(double number) {
    const bool is_first = facts_.num_numbers == 0;
    facts_.is_whole = facts_.is_whole && std::trunc(number) == number;
    facts_.is_counting = facts_.is_counting && (is_first || number == last_ + 1);
    facts_.least = is_first ? number : std::min(facts_.least, number);
    facts_.most = is_first ? number : std::max(facts_.most, number);
    last_ = number;
    ++facts_.num_numbers;
  }

  void add_text(std::string_view field, int64_t line) {
    const std::string plain = data::without_commas(field);
    if (!plain.empty()) ++facts_.num_with_commas;
    if (facts_.num_texts++ > 0) return;
    facts_.first_text = field;
    facts_.first_text_line = line;
    facts_.without_commas = plain;
  }

  // By hashes, so that a column of a million long texts does not fill the memory.
  void count_different(std::string_view field) {
    if (facts_.is_whole && facts_.num_different < kMaxDifferent) {
      const bool is_new = different_.insert(std::hash<std::string_view>()(field)).second;
      facts_.num_different += is_new ? 1 : 0;
      facts_.has_repeats = facts_.has_repeats || !is_new;
    }
    if (facts_.is_whole && facts_.num_different <= kMaxLabels) {
      const std::string text(field.substr(0, kMaxLabelBytes));
      ++labels_.try_emplace(text, Label{labels_.size(), 0}).first->second.count;
    }
  }

  ColumnFacts facts_;
  double last_ = 0;
  std::unordered_set<size_t> different_;
  std::unordered_map<std::string, Label> labels_;
};

// The number of fields of the first rows, or 0 where they differ or there are fewer than two.
size_t fields_of_first_rows(const std::filesystem::path& path, char delimiter) {
  constexpr int kRows = 20;
  InputFile file(path);
  try {
    CsvText text(file);
    CsvCursor cursor(path.string(), text, delimiter);
    size_t num_fields = 0;
    for (int row = 0; row < kRows && cursor.begin_row(); ++row) {
      const size_t count = cursor.count_fields();
      if (row > 0 && count != num_fields) return 0;
      num_fields = count;
    }
    return num_fields > 1 ? num_fields : 0;
  } catch (const Error&) {
    return 0;  // quotes that end in the middle of a field: another delimiter
  }
}

char find_delimiter(const std::filesystem::path& path) {
  char best = csv_delimiter("auto", path);
  size_t most = fields_of_first_rows(path, best);
  for (const char delimiter : {',', ';', '\t'}) {
    const size_t num_fields = fields_of_first_rows(path, delimiter);
    if (num_fields > most) {
      most = num_fields;
      best = delimiter;
    }
  }
  return best;
}

void inspect_row(CsvCursor& cursor, const std::string& file, std::vector<Collector>& columns) {
  size_t column = 0;
  for (; column < columns.size() && cursor.in_row(); ++column) {
    columns[column].add(cursor.next_field(), cursor.row_line());
  }
  if (column == columns.size() && !cursor.in_row()) return;
  const int64_t line = cursor.row_line();
  throw data_error(fmt::format("{}:{}", file, line),
                   fmt::format("expected {} fields as in the header, got {}", columns.size(),
                               cursor.count_fields()));
}

}  // namespace

TableFacts inspect_csv(const std::filesystem::path& path) {
  TableFacts table;
  table.file = path.string();
  table.delimiter = find_delimiter(path);
  InputFile file(path);
  CsvText text(file);
  CsvCursor cursor(table.file, text, table.delimiter);
  if (!cursor.begin_row()) throw data_error(table.file, "the file is empty");
  const std::string place = fmt::format("{}:{}", table.file, cursor.row_line());
  const std::vector<std::string> names = read_names(cursor, place);
  require_several(names, place, table.delimiter, "data.delimiter: ");
  std::vector<Collector> columns(names.begin(), names.end());
  for (; cursor.begin_row(); ++table.num_rows) inspect_row(cursor, table.file, columns);
  if (table.num_rows == 0) throw data_error(table.file, "no rows after the header");
  table.columns.reserve(columns.size());
  for (Collector& column : columns) table.columns.push_back(column.take());
  return table;
}

}  // namespace trainer::data
