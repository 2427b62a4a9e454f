// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/csv_format.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "trainer/config/data_config.h"
#include "trainer/core/parse.h"

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
  return {csv_delimiter(data.delimiter, path, decimal), decimal, MissingValues(data.missing)};
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
  if (format.missing.contains(field)) return true;
  if (!format.missing.has_numbers()) return false;
  const std::optional<double> number = number_in(field, format.decimal);
  return number && format.missing.contains(*number);
}

std::optional<double> number_in(std::string_view field, char decimal) {
  if (decimal == '.') return parse_double(field);
  if (field.find('.') != std::string_view::npos) return std::nullopt;
  const size_t mark = field.find(decimal);
  if (mark == std::string_view::npos) return parse_double(field);
  std::string text(field);
  text[mark] = '.';
  return parse_double(text);
}

std::vector<std::string> former_missing_texts() { return {"NA", "NaN", "null", "?"}; }

std::string delimiter_name(char delimiter) {
  if (delimiter == ',') return "comma";
  if (delimiter == ';') return "semicolon";
  return delimiter == '\t' ? "tab" : fmt::format("'{}'", delimiter);
}

}  // namespace trainer::data
