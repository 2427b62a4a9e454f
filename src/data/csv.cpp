// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/csv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "trainer/core/text.h"

#include "data/csv_cursor.h"
#include "data/file_bytes.h"

namespace trainer::data {
namespace {

enum class Role { kFeature, kTarget, kIgnored };

struct Header {
  std::vector<std::string> names;
  std::vector<Role> roles;            // [names.size()]
  std::vector<size_t> features_from;  // [names.size()] how many columns from here on are features
  size_t num_features = 0;
};

std::string delimiter_name(char delimiter) {
  if (delimiter == ',') return "comma";
  if (delimiter == ';') return "semicolon";
  return delimiter == '\t' ? "tab" : fmt::format("'{}'", delimiter);
}

// ---- the header ----

[[noreturn]] void fail_for_one_column(const std::string& place, const std::string& only_name,
                                      char delimiter) {
  std::string fix = "choose another with data.delimiter (comma, semicolon or tab)";
  for (const char other : {',', ';', '\t'}) {
    if (other != delimiter && only_name.find(other) != std::string::npos) {
      fix = fmt::format("did you mean data.delimiter: {}?", delimiter_name(other));
      break;
    }
  }
  throw data_error(place, fmt::format("the delimiter {} gives just one column, {}; {}",
                                      delimiter_name(delimiter), in_quotes(only_name), fix));
}

void require_unique_names(const std::string& place, const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, size_t> first_place;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) {
      const std::string hint = i == 0 ? " (pandas leaves out its row index by index=False)" : "";
      throw data_error(place, fmt::format("column {} has no name; give it one{}", i + 1, hint));
    }
    const auto [found, is_new] = first_place.emplace(names[i], i);
    if (!is_new) {
      throw data_error(place, fmt::format("column {} is there twice, as columns {} and {}; rename "
                                          "one of them",
                                          in_quotes(names[i]), found->second + 1, i + 1));
    }
  }
}

// What to tell somebody whose column is not there.
std::string missing_column_help(std::string_view wanted, const std::vector<std::string>& names) {
  if (const auto nearest = nearest_word(wanted, names)) {
    return fmt::format("did you mean {}?", in_quotes(*nearest));
  }
  if (std::all_of(names.begin(), names.end(),
                  [](const std::string& name) { return parse_double(name).has_value(); })) {
    return "the first line holds only numbers, but a header with the column names is required";
  }
  constexpr size_t kMaxShown = 8;
  std::vector<std::string> shown(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxShown)));
  if (names.size() > kMaxShown) shown.push_back(fmt::format("{} more", names.size() - kMaxShown));
  return "it has " + joined(shown);
}

size_t find_column(const std::string& place, std::string_view key, const std::string& wanted,
                   const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end()) {
    throw data_error(place, fmt::format("{}: column {} is not in the header; {}", key,
                                        in_quotes(wanted), missing_column_help(wanted, names)));
  }
  return static_cast<size_t>(found - names.begin());
}

Header read_header(CsvCursor& cursor, const std::string& file, const CsvOptions& options) {
  Header header;
  while (cursor.in_row()) header.names.emplace_back(cursor.next_field());
  const std::string place = fmt::format("{}:{}", file, cursor.row_line());
  if (header.names.size() == 1) {
    fail_for_one_column(place, header.names.front(), options.delimiter);
  }
  require_unique_names(place, header.names);

  header.roles.assign(header.names.size(), Role::kFeature);
  header.roles[find_column(place, "data.target", options.target, header.names)] = Role::kTarget;
  for (const std::string& name : options.ignored) {
    Role& role = header.roles[find_column(place, "data.ignore", name, header.names)];
    if (role == Role::kTarget) {
      throw data_error(place, fmt::format("data.ignore: column {} is the target; take it out of "
                                          "data.ignore or choose another data.target",
                                          in_quotes(name)));
    }
    role = Role::kIgnored;
  }
  header.num_features =
      static_cast<size_t>(std::count(header.roles.begin(), header.roles.end(), Role::kFeature));
  if (header.num_features == 0) {
    throw data_error(place, fmt::format("no feature columns: data.ignore leaves only the target {}",
                                        in_quotes(options.target)));
  }
  header.features_from.resize(header.roles.size());
  size_t run = 0;
  for (size_t column = header.roles.size(); column-- > 0;) {
    run = header.roles[column] == Role::kFeature ? run + 1 : 0;
    header.features_from[column] = run;
  }
  return header;
}

// ---- the rows ----

bool is_missing(std::string_view field) {
  constexpr std::array<std::string_view, 5> kMissing = {"", "na", "nan", "null", "?"};
  constexpr size_t kLongest = 4;
  return field.size() <= kLongest &&
         std::find(kMissing.begin(), kMissing.end(), lower_case(field)) != kMissing.end();
}

std::string missing_as_found(std::string_view field) {
  return field.empty() ? "an empty field" : fmt::format("{}, a missing value", in_quotes(field));
}

// Why `field` cannot be a feature.
std::string feature_problem(std::string_view field, std::optional<double> value) {
  if (is_missing(field)) {
    return fmt::format(
        "expected a number, got {}; fill it in or leave the column out with "
        "data.ignore",
        missing_as_found(field));
  }
  if (!value) {
    return fmt::format(
        "expected a number, got {}; correct it or leave the column out with "
        "data.ignore",
        in_quotes(field));
  }
  const std::string_view limit = std::isfinite(*value) ? " of at most 3.4e+38" : "";
  return fmt::format("expected a finite number{}, got {}", limit, in_quotes(field));
}

class RowReader {
 public:
  RowReader(CsvCursor& cursor, const Header& header, Table& table)
      : cursor_(cursor),
        header_(header),
        table_(table),
        features_(std::get<std::vector<float>>(table.features.values)),
        numbers_(header.num_features) {}

  void read_row() {
    table_.lines.push_back(cursor_.row_line());
    for (size_t column = 0; column < header_.roles.size();) {
      if (!cursor_.in_row()) fail_unless_well_formed();
      column += read_cells(column);
    }
    if (cursor_.in_row()) fail_unless_well_formed();
  }

 private:
  /// Reads one cell or more from `column` on and says how many.
  size_t read_cells(size_t column) {
    switch (header_.roles[column]) {
      case Role::kFeature:
        return read_features(column);
      case Role::kTarget:
        table_.target.push_back(next_target(column));
        break;
      case Role::kIgnored:
        cursor_.next_field();
        break;
    }
    return 1;
  }

  size_t read_features(size_t column) {
    const size_t count =
        cursor_.next_plain_numbers(std::span(numbers_).first(header_.features_from[column]));
    features_.insert(features_.end(), numbers_.begin(),
                     numbers_.begin() + static_cast<std::ptrdiff_t>(count));
    if (count > 0) return count;
    features_.push_back(next_feature(column));
    return 1;
  }

  float next_feature(size_t column) {
    const std::string_view field = cursor_.next_field();
    const std::optional<double> value = parse_double(field);
    const auto number = static_cast<float>(value.value_or(0));
    if (!value || !std::isfinite(number)) fail(column, feature_problem(field, value));
    return number;
  }

  std::string next_target(size_t column) {
    const std::string_view field = cursor_.next_field();
    if (is_missing(field)) {
      fail(column, fmt::format("expected a value to predict, got {}; fill it in or remove the row",
                               missing_as_found(field)));
    }
    return std::string(field);
  }

  std::string place() const { return fmt::format("{}:{}", table_.file, cursor_.row_line()); }

  [[noreturn]] void fail(size_t column, const std::string& problem) {
    fail_unless_well_formed();
    throw data_error(place(),
                     fmt::format("column {}: {}", in_quotes(header_.names[column]), problem));
  }

  // A delimiter too many moves all cells behind it, so this is the better thing to say first.
  void fail_unless_well_formed() {
    const size_t num_fields = cursor_.count_fields();
    if (num_fields == header_.names.size()) return;
    throw data_error(place(), fmt::format("expected {} fields as in the header, got {}",
                                          header_.names.size(), num_fields));
  }

  CsvCursor& cursor_;
  const Header& header_;
  Table& table_;
  std::vector<float>& features_;
  std::vector<float> numbers_;  // of cells that follow each other
};

void require_text(const std::string& file, const std::string& text) {
  const size_t nul = text.find('\0');
  if (nul == std::string::npos) return;
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
  throw data_error(fmt::format("{}:{}", file, line),
                   "a NUL byte, so this is not UTF-8 text; a table saved as UTF-16 must be "
                   "converted");
}

// Room for all rows, so that the features never exist twice. The text itself is the bound: a row
// has a line break, and each of its fields takes at least a byte.
void reserve_rows(Table& table, const std::string& text, const Header& header) {
  const auto num_lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
  const size_t num_rows = std::min(num_lines, text.size() / header.names.size() + 1);
  std::get<std::vector<float>>(table.features.values).reserve(num_rows * header.num_features);
  table.lines.reserve(num_rows);
  table.target.reserve(num_rows);
}

}  // namespace

char csv_delimiter(config::Delimiter choice, const std::filesystem::path& path) {
  switch (choice) {
    case config::Delimiter::kComma:
      return ',';
    case config::Delimiter::kSemicolon:
      return ';';
    case config::Delimiter::kTab:
      return '\t';
    case config::Delimiter::kAuto:
      break;
  }
  const std::string extension = lower_case(path.extension().string());
  return extension == ".tsv" || extension == ".tab" ? '\t' : ',';
}

Table read_csv(const std::filesystem::path& path, const CsvOptions& options) {
  Table table;
  table.file = path.string();
  InputFile file(path);
  const std::string text = read_all(file);
  table.fingerprints = {file.fingerprint()};
  require_text(table.file, text);
  CsvCursor cursor(table.file, text, options.delimiter);
  if (!cursor.begin_row()) throw data_error(table.file, "the file is empty");
  const Header header = read_header(cursor, table.file, options);

  for (size_t column = 0; column < header.names.size(); ++column) {
    if (header.roles[column] == Role::kFeature) table.feature_names.push_back(header.names[column]);
  }
  table.target_name = options.target;
  table.features.values = std::vector<float>();
  reserve_rows(table, text, header);
  RowReader reader(cursor, header, table);
  while (cursor.begin_row()) reader.read_row();

  if (table.target.empty()) throw data_error(table.file, "no rows after the header");
  table.features.num_rows = static_cast<int64_t>(table.target.size());
  table.features.num_columns = static_cast<int64_t>(header.num_features);
  return table;
}

}  // namespace trainer::data
