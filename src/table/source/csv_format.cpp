// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/source/csv_format.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "trainer/base/text/parse.h"
#include "trainer/config/data_config.h"

#include "table/source/number_text.h"

namespace trainer::data {

MissingValues::MissingValues() {
  static const MissingValues kDefault{config::default_missing_texts()};
  *this = kDefault;
}

MissingValues::MissingValues(std::span<const std::string> texts) {
  for (const std::string& text : texts) {
    if (const std::optional<double> number = parse_double(text)) {
      numbers_.push_back(*number);
      continue;
    }
    if (text.empty()) continue;
    texts_.push_back(lower_case(text));
    longest_ = std::max(longest_, text.size());
    const auto first = static_cast<unsigned char>(texts_.back().front());
    begins_[first] = true;
    begins_[static_cast<unsigned char>(std::toupper(first))] = true;
  }
  std::sort(texts_.begin(), texts_.end());
}

bool MissingValues::contains(std::string_view field) const {
  if (field.empty()) return true;
  if (!begins_[static_cast<unsigned char>(field.front())] || field.size() > longest_) return false;
  return std::binary_search(texts_.begin(), texts_.end(), lower_case(field));
}

CsvFormat csv_format(const config::DataConfig& data, const std::filesystem::path& path) {
  const char decimal = data.decimal.front();
  const char thousands = data.thousands == "none"    ? '\0'
                         : data.thousands == "space" ? ' '
                                                     : data.thousands.front();
  return {csv_delimiter(data.delimiter, path, decimal), decimal, MissingValues(data.missing),
          thousands};
}

char csv_delimiter(std::string_view choice, const std::filesystem::path& path, char decimal) {
  if (choice == "comma") return ',';
  if (choice == "semicolon") return ';';
  if (choice == "tab") return '\t';
  if (choice != "auto") return choice.front();
  std::string extension = lower_case(path.extension().string());
  if (extension == ".gz" || extension == ".zst")
    extension = lower_case(path.stem().extension().string());
  if (extension == ".tsv" || extension == ".tab") return '\t';
  return decimal == ',' ? ';' : ',';
}

bool is_missing(std::string_view field, const CsvFormat& format) {
  field = trimmed(field);
  if (format.missing.contains(field)) return true;
  if (!format.missing.has_numbers()) return false;
  const std::optional<double> number = number_in(field, format);
  return number && format.missing.contains(*number);
}

std::optional<double> number_in(std::string_view field, const CsvFormat& format) {
  field = trimmed(field);
  if (format.decimal == '.' && format.thousands == '\0') return parse_double(field);
  const std::optional<std::string> plain = plain_number(field, format.decimal, format.thousands);
  return plain ? parse_double(*plain) : std::nullopt;
}

std::string_view trimmed(std::string_view field) {
  constexpr std::string_view kBlanks = " \t";
  while (!field.empty() && kBlanks.find(field.front()) != std::string_view::npos) {
    field.remove_prefix(1);
  }
  while (!field.empty() && kBlanks.find(field.back()) != std::string_view::npos) {
    field.remove_suffix(1);
  }
  return field;
}

std::vector<std::string> former_missing_texts() { return {"NA", "NaN", "null", "?"}; }

std::string delimiter_name(char delimiter) {
  if (delimiter == ',') return "comma";
  if (delimiter == ';') return "semicolon";
  return delimiter == '\t' ? "tab" : fmt::format("'{}'", delimiter);
}

}  // namespace trainer::data
