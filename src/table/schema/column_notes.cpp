// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/schema/column_notes.h"

#include <bit>
#include <cstddef>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/text/format.h"

namespace trainer::data {
namespace {

/// Of each feature column.
using MissingCounts = std::unordered_map<std::string_view, int64_t>;

MissingCounts missing_counts(const Table& table) {
  MissingCounts counts;
  counts.reserve(table.feature_names.size());
  for (size_t i = 0; i < table.feature_names.size(); ++i) {
    counts.emplace(table.feature_names[i], table.num_missing[i]);
  }
  return counts;
}

std::string numeric_note(const Column& column, int64_t num_missing, config::Imputation fill) {
  const std::string kind_of_number =
      column.offset == 0 ? "numeric"
                         : fmt::format("numeric, minus offset {}", shortest(column.offset));
  if (num_missing == 0) return column.offset == 0 ? "" : kind_of_number;
  const char* kind = fill == config::Imputation::kMean     ? "the mean "
                     : fill == config::Imputation::kMedian ? "the median "
                                                           : "";
  return fmt::format("{}, {} missing: filled with {}{}{}", kind_of_number,
                     with_thousands(num_missing), kind,
                     text_in_file_units(column, column.fill.value_or(0)),
                     column.has_missing_indicator ? ", with missing indicator" : "");
}

std::string categorical_note(const Column& column, int64_t num_missing) {
  std::string text = fmt::format(
      "{}, {}{}", column.is_declared ? "categorical" : "categorical (text)",
      column.categories.size() == 1
          ? "1 category"
          : fmt::format("{} categories",
                        with_thousands(static_cast<int64_t>(column.categories.size()))),
      column.is_sign               ? ", -1 or 1"
      : column.embedding_size == 0 ? ""
                                   : fmt::format(", embedding of size {}", column.embedding_size));
  if (num_missing > 0) {
    text += fmt::format(", {} missing: {}", with_thousands(num_missing),
                        column.is_sign                 ? "0"
                        : column.has_missing_indicator ? "a separate category"
                                                       : "treated as unknown");
  }
  return text;
}

std::string make_note(const MissingCounts& missing, const Column& column, config::Imputation fill) {
  switch (column.kind) {
    case ColumnKind::kNumeric:
      return numeric_note(column, missing.at(column.name), fill);
    case ColumnKind::kCategorical:
      return categorical_note(column, missing.at(column.name));
    case ColumnKind::kId:
      return column.reason.empty() ? "row identifier" : "row identifier; " + column.reason;
    case ColumnKind::kIgnored:
      break;
  }
  return "dropped: " + column.reason;
}

/// Of each column of `matrix`: whether all its elements are equal, and a hash of them.
struct ColumnStats {
  std::vector<uint8_t> is_constant;
  std::vector<uint64_t> hashes;
};

ColumnStats compute_stats(std::span<const float> values, size_t width) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  ColumnStats result{std::vector<uint8_t>(width, 1), std::vector<uint64_t>(width, 0)};
  uint8_t* is_constant = result.is_constant.data();
  uint64_t* hashes = result.hashes.data();
  for (size_t row = 0; row + width <= values.size(); row += width) {
    const float* cells = values.data() + row;
    for (size_t c = 0; c < width; ++c) {
      is_constant[c] &= static_cast<uint8_t>(cells[c] == values[c]);
      hashes[c] = (hashes[c] + std::bit_cast<uint32_t>(cells[c])) * kMultiplier;
    }
  }
  return result;
}

bool are_equal(std::span<const float> values, size_t width, size_t a, size_t b) {
  for (size_t row = 0; row + width <= values.size(); row += width) {
    if (values[row + a] != values[row + b]) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> describe_columns(const Table& table, const std::vector<Column>& columns,
                                          config::Imputation fill) {
  std::vector<std::string> lines;
  const MissingCounts missing = missing_counts(table);
  int64_t num_numeric = 0;
  int64_t num_categorical = 0;
  std::vector<std::string> others;
  for (const Column& column : columns) {
    num_numeric += column.kind == ColumnKind::kNumeric ? 1 : 0;
    num_categorical += column.kind == ColumnKind::kCategorical ? 1 : 0;
    const bool is_other = column.kind == ColumnKind::kId || column.kind == ColumnKind::kIgnored;
    if (is_other) others.push_back(in_quotes(column.name));
    const std::string note = make_note(missing, column, fill);
    if (!note.empty()) lines.push_back(fmt::format("{}: {}", in_quotes(column.name), note));
  }
  if (lines.empty()) return lines;
  const auto num_others = std::ssize(others);
  std::vector<std::string> counts;
  const auto count = [&](int64_t number, const char* what) {
    if (number > 0) counts.push_back(fmt::format("{} {}", with_thousands(number), what));
  };
  count(num_numeric, "numeric");
  count(num_categorical, "categorical");
  count(num_others, num_others == 1 ? "not used as a feature" : "not used as features");
  if (num_others > 0) counts.back() += fmt::format(" ({})", joined_some(others));
  lines.insert(lines.begin(), fmt::format("{}", fmt::join(counts, ", ")));
  constexpr size_t kMaxLines = 1000;
  if (lines.size() > kMaxLines) {
    const size_t num_more = lines.size() - kMaxLines;
    lines.resize(kMaxLines);
    lines.push_back(fmt::format("and {} more columns like this",
                                with_thousands(static_cast<int64_t>(num_more))));
  }
  return lines;
}

std::vector<std::string> find_useless_columns(const Matrix& train,
                                              const std::vector<Column>& columns) {
  const auto& values = std::get<Array<float>>(train.values);
  const auto width = static_cast<size_t>(train.num_columns);
  if (train.num_rows < 2) return {};
  const ColumnStats found = compute_stats(values, width);
  std::vector<std::string> constant;
  std::vector<std::string> repeated;
  std::unordered_map<uint64_t, std::pair<size_t, std::string>> first_by_hash;
  const std::vector<int64_t> first_of_columns = first_features(columns);
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    const auto feature = static_cast<size_t>(first_of_columns[i]);
    if (num_features(column) == 0) continue;
    if (num_features(column) == 1 && found.is_constant[feature] != 0) {
      constant.push_back(in_quotes(column.name));
    } else if (column.kind == ColumnKind::kNumeric && column.source.empty()) {
      // Dates may well have the year in common; nobody can drop that.
      const auto [first, is_new] =
          first_by_hash.try_emplace(found.hashes[feature], feature, column.name);
      if (!is_new && are_equal(values, width, feature, first->second.first)) {
        repeated.push_back(fmt::format("{} (same as {})", in_quotes(column.name),
                                       in_quotes(first->second.second)));
      }
    }
  }
  std::vector<std::string> lines;
  if (!constant.empty()) {
    lines.push_back(
        fmt::format("constant in the training split: {}; constant columns carry no information, "
                    "drop them with data.ignore",
                    joined_some(constant)));
  }
  if (!repeated.empty()) {
    lines.push_back(fmt::format("duplicates of another column: {}; drop them with data.ignore",
                                joined_some(repeated)));
  }
  return lines;
}

std::vector<std::string> describe_unknown(const std::vector<Column>& columns,
                                          const std::vector<int64_t>& num_unknown,
                                          const std::string& where) {
  std::vector<size_t> found;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (num_unknown[i] > 0) found.push_back(i);
  }
  if (found.empty()) return {};
  if (found.size() == 1) {
    const int64_t count = num_unknown[found.front()];
    return {
        fmt::format("column {}: {} of {} {} a category that does not occur in the training split; "
                    "treated as unknown (data.unknown_category)",
                    in_quotes(columns[found.front()].name), counted(count, "row"), where,
                    count == 1 ? "has" : "have")};
  }
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const size_t i : found) {
    names.push_back(
        fmt::format("{} ({})", in_quotes(columns[i].name), counted(num_unknown[i], "row")));
  }
  return {fmt::format(
      "columns {}: categories in {} that do not occur in the training split; treated as "
      "unknown (data.unknown_category)",
      joined_some(names), where)};
}

}  // namespace trainer::data
