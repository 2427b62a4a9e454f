// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainer::config {
struct DataConfig;
}

namespace trainer::data {

/// What stands for no value in a table.
class MissingValues {
 public:
  /// As data.missing is by default.
  MissingValues();
  /// An empty field, `texts` in any capitals, and those of them that are numbers in any spelling.
  explicit MissingValues(std::span<const std::string> texts);

  /// Whether `field` is one of the texts that are no numbers.
  bool contains(std::string_view field) const;
  bool contains(double number) const {  // asked of cells by the million, and mostly of none
    return std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end();
  }
  bool has_numbers() const { return !numbers_.empty(); }

 private:
  std::vector<std::string> texts_;  // in small letters, in order
  std::vector<double> numbers_;
  size_t longest_ = 0;              // of the texts
  std::array<bool, 256> begins_{};  // whether a text begins with the byte
};

/// How the text of a table is written.
struct CsvFormat {
  char delimiter = ',';
  char decimal = '.';
  MissingValues missing = {};
  char thousands = '\0';  // mark between groups of three digits; NUL: there is none
};

/// What data.delimiter, data.decimal, data.thousands and data.missing mean for the file at `path`.
CsvFormat csv_format(const config::DataConfig& data, const std::filesystem::path& path);

/// The delimiter that data.delimiter: `choice` means for `path`. "auto" is a tab for names that end
/// in .tsv or .tab, also before .gz; else a comma, or a semicolon where the comma is the decimal
/// mark. It never looks into the file.
char csv_delimiter(std::string_view choice, const std::filesystem::path& path, char decimal = '.');

/// Whether a field stands for no value.
bool is_missing(std::string_view field, const CsvFormat& format);

/// The whole of `field` but blanks around it as a number with the marks of `format`, see
/// parse_double().
std::optional<double> number_in(std::string_view field, const CsvFormat& format);

/// `field` without blanks around it, which quotes may enclose.
std::string_view trimmed(std::string_view field);

/// The texts that stood for no value before data.missing was there, besides an empty field.
std::vector<std::string> former_missing_texts();

/// "comma", "semicolon", "tab", or the character in quotes.
std::string delimiter_name(char delimiter);

}  // namespace trainer::data
