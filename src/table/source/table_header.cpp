// SPDX-License-Identifier: Apache-2.0
#include "table/source/table_header.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/suggest.h"
#include "trainer/base/text/utf8.h"
#include "trainer/table/source/csv_format.h"

#include "table/error.h"
#include "table/source/number_text.h"
#include "table/source/time_text.h"

namespace trainer::data {
namespace {

/// The columns of a header by their names.
class ColumnIndex {
 public:
  /// `names` must outlive the index.
  explicit ColumnIndex(const std::vector<std::string>& names) {
    indices_.reserve(names.size());
    for (size_t i = 0; i < names.size(); ++i) indices_.emplace(names[i], i);
  }

  /// The index of the column, or nothing.
  std::optional<size_t> find(std::string_view name) const {
    const auto found = indices_.find(name);
    return found == indices_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::string_view, size_t> indices_;
};

/// Whether `text` is a pattern with * or ? for names.
bool is_pattern(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
}

/// What to tell somebody whose column is not there: the nearest name, or some that are.
std::string missing_column_help(std::string_view wanted, const std::vector<std::string>& names) {
  if (const auto nearest = nearest_word(wanted, names)) {
    return fmt::format("did you mean {}?", in_quotes(*nearest));
  }
  if (std::all_of(names.begin(), names.end(),
                  [](const std::string& name) { return parse_double(name).has_value(); })) {
    return "the first line contains only numbers; expected a header with column names";
  }
  constexpr size_t kMaxShown = 8;
  std::vector<std::string> shown(
      names.begin(),
      names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxShown)));
  if (names.size() > kMaxShown) shown.push_back(fmt::format("{} more", names.size() - kMaxShown));
  return "the header has " + joined(shown);
}

std::vector<std::string> quoted(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  result.reserve(names.size());
  for (const std::string& name : names) result.push_back(in_quotes(name));
  return result;
}

/// Gives columns their roles, each at most one.
class RoleList {
 public:
  RoleList(const std::string& location, const std::vector<std::string>& names)
      : location_(location),
        names_(names),
        column_index_(names),
        columns_(names.size()),
        keys_(names.size()) {
    for (size_t i = 0; i < names.size(); ++i) columns_[i].name = names[i];
  }

  size_t set(const char* key, const std::string& name, Role role, ColumnKind kind) {
    const std::optional<size_t> found = column_index_.find(name);
    if (!found) {
      throw data_error(location_, fmt::format("{}: column {} is not in the header; {}", key,
                                              in_quotes(name), missing_column_help(name, names_)));
    }
    assign(key, *found, role, kind);
    return *found;
  }

  void set_target(const std::string& name, size_t target) {
    columns_[set("data.target", name, Role::kTarget, ColumnKind::kIgnored)].index = target;
  }

  void set_all(const char* key, const std::vector<std::string>& list, Role role, ColumnKind kind) {
    for (const std::string& name : list) {
      if (!is_pattern(name) || is_name(name)) set(key, name, role, kind);
    }
  }

  /// Patterns are for columns that no list names.
  void set_matching(const char* key, const std::vector<std::string>& list, Role role,
                    ColumnKind kind) {
    for (const std::string& pattern : list) {
      if (!is_pattern(pattern) || is_name(pattern)) continue;
      bool fits = false;
      for (size_t i = 0; i < names_.size(); ++i) {
        if (!matches_any(names_[i], {&pattern, 1})) continue;
        fits = true;
        if (named_[i]) continue;
        assign(key, i, role, kind);
      }
      if (fits) continue;
      throw data_error(location_,
                       fmt::format("{}: no column matches {}; {}", key, in_quotes(pattern),
                                   missing_column_help(pattern, names_)));
    }
  }

  /// A column that is something else as well is read as that too.
  void set_time(const std::string& name) {
    const std::optional<size_t> found = column_index_.find(name);
    if (!found || keys_[*found].empty()) {
      const size_t i = set("data.time", name, Role::kSkipped, ColumnKind::kIgnored);
      columns_[i].reason = "it orders the rows (data.time)";
      columns_[i].is_time = true;
      return;
    }
    if (keys_[*found] == "data.target") require_free("data.time", *found, Role::kSkipped);
    columns_[*found].is_time = true;
  }

  /// From here on columns count as named if they have a role now.
  void end_names() {
    for (const std::string& key : keys_) named_.push_back(!key.empty());
  }

  std::vector<HeaderColumn> take() { return std::move(columns_); }

 private:
  bool is_name(const std::string& text) const { return column_index_.find(text).has_value(); }

  void assign(const char* key, size_t i, Role role, ColumnKind kind) {
    require_free(key, i, role);
    keys_[i] = key;
    HeaderColumn& column = columns_[i];
    column.role = role;
    // A group that is an id as well is carried along as ids are.
    if (column.kind != ColumnKind::kId) column.kind = kind;
    column.is_declared = true;
    if (role == Role::kSkipped && kind == ColumnKind::kIgnored) column.reason = key;
    if (role == Role::kSplit) column.reason = "it assigns rows to splits (data.split_column)";
    if (role == Role::kGroup) column.reason = "it groups the rows (data.group)";
    if (role == Role::kWeight) column.reason = "it is the sample weight (data.weight)";
  }

  void require_free(const char* key, size_t i, Role role) const {
    const std::string& other = keys_[i];
    if (other.empty() || other == key) return;
    if (role == Role::kGroup && columns_[i].role == Role::kSkipped) return;
    if (other == "data.target") {
      throw data_error(
          location_,
          fmt::format(
              "{}: column {} is the target; remove it from {} or choose another data.target", key,
              in_quotes(names_[i]), key));
    }
    throw data_error(location_,
                     fmt::format("{}: column {} is also in {}; remove it from one of them", key,
                                 in_quotes(names_[i]), other));
  }

  const std::string& location_;
  const std::vector<std::string>& names_;
  ColumnIndex column_index_;
  std::vector<HeaderColumn> columns_;
  std::vector<std::string> keys_;  // [names] that gave the role; empty: none did
  std::vector<bool> named_;
};

}  // namespace

TableHeader make_header(const std::string& location, const std::vector<std::string>& names,
                        const ColumnOptions& options) {
  struct List {
    const char* key;
    const std::vector<std::string>& names;
    Role role;
    ColumnKind kind;
  };
  const List lists[] = {
      {"data.ignore", options.ignored, Role::kSkipped, ColumnKind::kIgnored},
      {"data.id", options.id, Role::kSkipped, ColumnKind::kId},
      {"data.numeric", options.numeric, Role::kNumber, ColumnKind::kNumeric},
      {"data.categorical", options.categorical, Role::kText, ColumnKind::kCategorical}};
  RoleList roles(location, names);
  for (size_t i = 0; i < options.targets.size(); ++i) roles.set_target(options.targets[i], i);
  for (const List& list : lists) roles.set_all(list.key, list.names, list.role, list.kind);
  if (!options.split_column.empty()) {
    roles.set("data.split_column", options.split_column, Role::kSplit, ColumnKind::kIgnored);
  }
  if (!options.group.empty()) {
    roles.set("data.group", options.group, Role::kGroup, ColumnKind::kIgnored);
  }
  if (!options.weight.empty()) {
    roles.set("data.weight", options.weight, Role::kWeight, ColumnKind::kIgnored);
  }
  if (!options.time.empty()) roles.set_time(options.time);
  roles.end_names();
  for (const List& list : lists) roles.set_matching(list.key, list.names, list.role, list.kind);

  TableHeader header{location, roles.take()};
  header.drops_rows_without_target = options.drop_rows_without_target;
  header.date_parts = options.dates;
  header.date_order = options.date_order;
  header.is_of_training = true;
  for (HeaderColumn& column : header.columns) {
    column.refuses_missing = options.fill == config::Imputation::kError;
    if (header.date_order != config::DateOrder::kAuto) column.date_order = header.date_order;
  }
  count_features(header);
  if (header.num_features == 0) {
    throw data_error(
        location,
        fmt::format(
            "no feature columns besides the target {}; remove some from data.ignore and data.id",
            joined(quoted(options.targets))));
  }
  return header;
}

void make_date(TableHeader& header, size_t column) {
  HeaderColumn& date = header.columns[column];
  for (const config::DatePart part : header.date_parts) {
    const std::string name = part_name(date.name, part);
    for (const HeaderColumn& other : header.columns) {
      if (other.name != name) continue;
      throw data_error(header.location,
                       fmt::format("column {}: a part of its dates would have the name of the "
                                   "column {}; rename that, or set data.dates: off",
                                   in_quotes(date.name), in_quotes(name)));
    }
  }
  date.role = Role::kDate;
  date.parts = header.date_parts;
}

void take_trained(const std::vector<Column>& from, TableHeader& header) {
  std::unordered_map<std::string_view, std::vector<const Column*>> trained;
  for (const Column& column : from) trained[source_of(column)].push_back(&column);
  for (size_t i = 0; i < header.columns.size(); ++i) {
    HeaderColumn& column = header.columns[i];
    header.offsets[i] = 0;
    column.parts.clear();
    bool was_text = false;
    for (const Column* known : trained[column.name]) {
      // Of the parts of a date, only the seconds have one.
      if (known->offset != 0) header.offsets[i] = known->offset;
      if (!known->source.empty()) column.parts.push_back(known->date_part);
      column.date_order = known->date_order;
      was_text = known->kind == ColumnKind::kCategorical ||
                 (known->kind == ColumnKind::kIgnored && !column.unit.empty());
    }
    const bool is_new_date = column.role == Role::kDate && column.parts.empty();
    const bool is_new_other = was_text && column.role != Role::kText;
    // The model is from before there were such dates or units.
    if (!column.is_declared && (is_new_date || is_new_other)) {
      column.role = Role::kText;
      column.kind = ColumnKind::kCategorical;
      column.unit.clear();
    }
  }
}

std::optional<size_t> weight_column(const TableHeader& header) {
  for (size_t i = 0; i < header.columns.size(); ++i) {
    if (header.columns[i].role == Role::kWeight) return i;
  }
  return std::nullopt;
}

size_t num_cells(const HeaderColumn& column) {
  if (column.role == Role::kDate) return column.parts.size();
  return column.role == Role::kNumber || column.role == Role::kText ? 1 : 0;
}

void count_features(TableHeader& header) {
  header.offsets.resize(header.columns.size());
  header.num_features = 0;
  for (const HeaderColumn& column : header.columns) header.num_features += num_cells(column);
}

namespace {

/// Gives columns the roles that a trained model has for them; all others are skipped.
class TrainedRoles {
 public:
  explicit TrainedRoles(const std::vector<std::string>& names)
      : column_index_(names), offsets_(names.size()) {
    columns_.reserve(names.size());
    for (const std::string& name : names) {
      columns_.push_back({name, Role::kSkipped, ColumnKind::kIgnored, /*is_declared=*/true});
    }
  }

  void set(const TrainedColumns& trained) {
    for (size_t i = 0; i < trained.targets.size(); ++i) {
      set_role(require(trained.targets[i]), Role::kTarget, i);
    }
    if (!trained.weight.empty()) {
      HeaderColumn* weight =
          trained.may_lack_weight ? find(trained.weight) : require(trained.weight);
      set_role(weight, Role::kWeight, 0);
    }
    size_t num_ids = 0;
    for (const Column& column : trained.columns) {
      if (column.kind == ColumnKind::kId && trained.ids == TrainedColumns::Ids::kKept) {
        if (HeaderColumn* id = find(column.name)) set_role(id, Role::kId, num_ids++);
      }
      if (num_features(column) > 0) set_feature(require(source_of(column)), column);
    }
    for (const std::string& pattern : trained.kept) keep(pattern, num_ids);
  }

  /// Names and patterns of kept columns that fit none, in quotes.
  const std::vector<std::string>& unknown() const { return unknown_; }

  const std::vector<double>& offsets() const { return offsets_; }
  bool lacks_some() const { return !missing_.empty(); }
  /// Their names in quotes, with what is like them among the columns that are not used.
  std::string missing() const {
    constexpr size_t kMaxSuggested = 8;
    std::vector<std::string> unused;
    for (const HeaderColumn& column : columns_) {
      if (column.role == Role::kSkipped) unused.push_back(column.name);
    }
    std::vector<std::string> texts;
    for (const std::string& name : missing_) {
      std::string& text = texts.emplace_back(in_quotes(name));
      if (texts.size() > kMaxSuggested) continue;
      if (const auto near = nearest_word(name, unused)) {
        text += fmt::format(" (did you mean {}?)", in_quotes(*near));
      }
    }
    return joined(texts);
  }
  std::vector<HeaderColumn> take() { return std::move(columns_); }

 private:
  HeaderColumn* find(const std::string& name) {
    const std::optional<size_t> index = column_index_.find(name);
    return index ? &columns_[*index] : nullptr;
  }

  HeaderColumn* require(const std::string& name) {
    if (HeaderColumn* column = find(name)) return column;
    // The parts of a date follow each other.
    if (missing_.empty() || missing_.back() != name) missing_.push_back(name);
    return nullptr;
  }

  // A pattern that is a name too means that column alone.
  void keep(const std::string& pattern, size_t& num_ids) {
    const bool is_name = find(pattern) != nullptr;
    bool fits = false;
    for (HeaderColumn& column : columns_) {
      const bool is_meant =
          is_name ? column.name == pattern : matches_any(column.name, {&pattern, 1});
      if (!is_meant) continue;
      fits = true;
      if (column.role == Role::kId || column.kept_index) continue;
      if (column.role == Role::kSkipped) {
        set_role(&column, Role::kId, num_ids++);
      } else {
        column.kept_index = num_ids++;
      }
    }
    if (!fits) unknown_.push_back(pattern);
  }

  static void set_role(HeaderColumn* column, Role role, size_t index) {
    if (column == nullptr) return;
    column->role = role;
    column->index = index;
  }

  void set_feature(HeaderColumn* column, const Column& trained) {
    if (column == nullptr) return;
    const bool is_number = trained.kind == ColumnKind::kNumeric;
    column->role = is_number ? Role::kNumber : Role::kText;
    if (!trained.source.empty()) {
      column->role = Role::kDate;
      column->parts.push_back(trained.date_part);
    }
    // Of the parts of a date, only the seconds have one.
    if (trained.offset != 0) {
      offsets_[static_cast<size_t>(column - columns_.data())] = trained.offset;
    }
    column->kind = trained.kind;
    column->date_order = trained.date_order;
    column->unit = trained.unit;
    column->is_trained = true;
    column->refuses_missing = is_number && !trained.fill;
  }

  ColumnIndex column_index_;
  std::vector<HeaderColumn> columns_;
  std::vector<double> offsets_;  // [names]
  std::vector<std::string> missing_;
  std::vector<std::string> unknown_;
};

}  // namespace

TableHeader make_trained_header(const std::string& location, const std::vector<std::string>& names,
                                const TrainedColumns& trained, std::optional<char> delimiter) {
  TrainedRoles roles(names);
  roles.set(trained);
  if (roles.lacks_some()) {
    if (delimiter) require_several(names, location, *delimiter, trained.delimiter_option);
    throw data_error(
        location,
        fmt::format("expected the columns of the training data; missing from the header: {}",
                    roles.missing()));
  }
  if (!roles.unknown().empty()) {
    const std::string& first = roles.unknown().front();
    throw data_error(location, fmt::format("--keep: {} {} in the header; {}", in_quotes(first),
                                           is_pattern(first) ? "matches no column" : "is not",
                                           missing_column_help(first, names)));
  }
  TableHeader header{location, roles.take()};
  header.offsets = roles.offsets();
  header.decimal_option =
      trained.delimiter_option.starts_with("--") ? "use --decimal ," : header.decimal_option;
  header.drops_rows_without_target = trained.drop_rows_without_target;
  count_features(header);
  return header;
}

void require_good_names(const std::string& location, const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, size_t> first_place;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) {
      const std::string hint = i == 0 ? " (in pandas: index=False omits the row index)" : "";
      throw data_error(location, fmt::format("column {} has no name; add one{}", i + 1, hint));
    }
    if (!is_utf8(names[i])) {
      throw data_error(location,
                       fmt::format("column {}: expected a name in UTF-8, got {}; save the "
                                   "file as UTF-8",
                                   i + 1, in_quotes(names[i])));
    }
    const auto [found, is_new] = first_place.emplace(names[i], i);
    if (!is_new) {
      throw data_error(
          location, fmt::format("duplicate column {}, in positions {} and {}; rename one of them",
                                in_quotes(names[i]), found->second + 1, i + 1));
    }
  }
}

void require_several(const std::vector<std::string>& names, const std::string& location,
                     char delimiter, const std::string& option) {
  if (names.size() > 1) return;
  const std::string& only_name = names.front();
  if (only_name.starts_with('#')) {
    throw data_error(location, fmt::format("expected a header with column names, got the comment "
                                           "{}; remove the lines before the header",
                                           in_quotes(only_name)));
  }
  std::string fix = fmt::format(
      "choose another with {} (comma, semicolon, tab or the "
      "character itself)",
      option.substr(0, option.find_first_of(": ")));
  for (const char other : {',', ';', '\t', '|'}) {
    if (other != delimiter && only_name.find(other) != std::string::npos) {
      fix = fmt::format("did you mean {}{}?", option, delimiter_name(other));
      break;
    }
  }
  throw data_error(location, fmt::format("with the delimiter {} there is only one column, {}; {}",
                                         delimiter_name(delimiter), in_quotes(only_name), fix));
}

namespace {

std::string fix_of_missing(const HeaderColumn& column) {
  return column.is_trained ? "fill it in: the model has no fill value for this column"
                           : "fill it in, choose a data.fill, or drop the column with data.ignore";
}

// How to read it as it is.
std::string thousands_option(std::string_view field, const CsvFormat& format) {
  const char thousands = format.decimal == '.' ? ',' : '.';
  const std::optional<std::string> plain = plain_number(trimmed(field), format.decimal, thousands);
  if (!plain || !parse_double(*plain)) return "";
  return fmt::format(", or set data.thousands: \"{}\"", thousands);
}

std::string fix_of_text(const HeaderColumn& column, std::string_view field, const CsvFormat& format,
                        const TableHeader& header) {
  if (const std::string number = rewritten_number(field, format); !number.empty()) {
    const std::string thousands = column.is_trained ? "" : thousands_option(field, format);
    if (format.decimal == ',') {
      return "write it with a decimal comma and without thousands separators: " + number +
             thousands;
    }
    const bool may_be_decimal = format.delimiter != ',' && number.find('.') != std::string::npos;
    return "write it without a comma: " + number +
           (may_be_decimal ? ", or " + header.decimal_option : "") + thousands;
  }
  const std::optional<NumberWithUnit> parts = split_unit(field);
  if (parts && column.unit.empty() && number_in(parts->number, format)) {
    return fmt::format("write it without the unit: {}, or write all cells of the column with it",
                       parts->number);
  }
  if (column.is_trained) return "correct it: the column was numeric in the training data";
  return column.is_declared ? "correct it, add it to data.missing or list the column in "
                              "data.categorical"
                            : "correct it, add it to data.missing, or list the column in "
                              "data.categorical or data.ignore";
}

}  // namespace

std::string missing_as_found(std::string_view field) {
  return field.empty() ? "an empty field" : fmt::format("{}, a missing value", in_quotes(field));
}

std::string number_problem(std::string_view field, std::optional<double> value,
                           const HeaderColumn& column, const CsvFormat& format,
                           const TableHeader& header) {
  if (is_missing(field, format)) {
    return fmt::format("expected a number, got {}; {}", missing_as_found(field),
                       fix_of_missing(column));
  }
  if (!value) {
    std::string expected = "a number";
    if (!column.unit.empty()) {
      expected += " such as " + column.unit;
      expected.replace(expected.find('#'), 1, "12");
    }
    return fmt::format("expected {}, got {}; {}", expected, in_quotes(field),
                       fix_of_text(column, field, format, header));
  }
  const std::string_view limit = std::isfinite(*value) ? " of at most 3.4e+38" : "";
  return fmt::format("expected a finite number{}, got {}", limit, in_quotes(field));
}

}  // namespace trainer::data
