// SPDX-License-Identifier: Apache-2.0
#include "data/csv_header.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "trainer/core/format.h"
#include "trainer/core/parse.h"
#include "trainer/core/suggest.h"
#include "trainer/core/utf8.h"

#include "data/error.h"

namespace trainer::data {
namespace {

/// Where each name stands.
class Places {
 public:
  explicit Places(const std::vector<std::string>& names) {
    places_.reserve(names.size());
    for (size_t i = 0; i < names.size(); ++i) places_.emplace(names[i], i);
  }

  std::optional<size_t> of(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::string_view, size_t> places_;
};

void require_good_names(const std::string& place, const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, size_t> first_place;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) {
      const std::string hint = i == 0 ? " (pandas leaves out its row index by index=False)" : "";
      throw data_error(place, fmt::format("column {} has no name; give it one{}", i + 1, hint));
    }
    if (!is_utf8(names[i])) {
      throw data_error(place, fmt::format("column {}: expected a name in UTF-8, got {}; save the "
                                          "file as UTF-8",
                                          i + 1, in_quotes(names[i])));
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

bool is_pattern(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos;
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
  RoleList(const std::string& place, const std::vector<std::string>& names)
      : place_(place), names_(names), places_(names), columns_(names.size()), keys_(names.size()) {
    for (size_t i = 0; i < names.size(); ++i) columns_[i].name = names[i];
  }

  size_t set(const char* key, const std::string& name, Role role, ColumnKind kind) {
    const std::optional<size_t> found = places_.of(name);
    if (!found) {
      throw data_error(place_, fmt::format("{}: column {} is not in the header; {}", key,
                                           in_quotes(name), missing_column_help(name, names_)));
    }
    assign(key, *found, role, kind);
    return *found;
  }

  void set_target(const std::string& name, size_t target) {
    columns_[set("data.target", name, Role::kTarget, ColumnKind::kLeftOut)].place = target;
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
      throw data_error(
          place_, fmt::format("{}: no column of the header fits {}; {}", key, in_quotes(pattern),
                              missing_column_help(pattern, names_)));
    }
  }

  /// A column that is something else as well is read as that too.
  void set_time(const std::string& name) {
    const std::optional<size_t> found = places_.of(name);
    if (!found || keys_[*found].empty()) {
      const size_t i = set("data.time", name, Role::kSkipped, ColumnKind::kLeftOut);
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

  std::vector<CsvColumn> take() { return std::move(columns_); }

 private:
  bool is_name(const std::string& text) const { return places_.of(text).has_value(); }

  void assign(const char* key, size_t i, Role role, ColumnKind kind) {
    require_free(key, i, role);
    keys_[i] = key;
    CsvColumn& column = columns_[i];
    column.role = role;
    // A group that is an id as well is carried along as ids are.
    if (column.kind != ColumnKind::kId) column.kind = kind;
    column.is_declared = true;
    if (role == Role::kSkipped && kind == ColumnKind::kLeftOut) column.reason = key;
    if (role == Role::kPart) column.reason = "it divides the rows (data.split_column)";
    if (role == Role::kGroup) column.reason = "it groups the rows (data.group)";
    if (role == Role::kWeight) column.reason = "it weighs the rows (data.weight)";
  }

  void require_free(const char* key, size_t i, Role role) const {
    const std::string& other = keys_[i];
    if (other.empty() || other == key) return;
    if (role == Role::kGroup && columns_[i].role == Role::kSkipped) return;
    if (other == "data.target") {
      throw data_error(place_, fmt::format("{}: column {} is the target; take it out of {} or "
                                           "choose another data.target",
                                           key, in_quotes(names_[i]), key));
    }
    throw data_error(place_, fmt::format("{}: column {} is in {} too; take it out of one of them",
                                         key, in_quotes(names_[i]), other));
  }

  const std::string& place_;
  const std::vector<std::string>& names_;
  Places places_;
  std::vector<CsvColumn> columns_;
  std::vector<std::string> keys_;  // [names] that gave the role; empty: none did
  std::vector<bool> named_;
};

/// Gives columns the roles that a trained model has for them; all others are skipped.
class TrainedRoles {
 public:
  explicit TrainedRoles(const std::vector<std::string>& names)
      : places_(names), offsets_(names.size()) {
    columns_.reserve(names.size());
    for (const std::string& name : names) {
      columns_.push_back({name, Role::kSkipped, ColumnKind::kLeftOut, /*is_declared=*/true});
    }
  }

  void set(const TrainedColumns& trained) {
    for (size_t i = 0; i < trained.targets.size(); ++i) {
      set_place(require(trained.targets[i]), Role::kTarget, i);
    }
    if (!trained.weight.empty()) {
      CsvColumn* weight = trained.may_lack_weight ? find(trained.weight) : require(trained.weight);
      set_place(weight, Role::kWeight, 0);
    }
    size_t num_ids = 0;
    for (const Column& column : trained.columns) {
      if (column.kind == ColumnKind::kId && trained.ids == TrainedColumns::Ids::kKept) {
        if (CsvColumn* id = find(column.name)) set_place(id, Role::kId, num_ids++);
      }
      if (num_features(column) > 0) set_feature(require(column.name), column);
    }
    for (const std::string& pattern : trained.kept) keep(pattern, num_ids);
  }

  /// Names and patterns of kept columns that fit none, in quotes.
  const std::vector<std::string>& unknown() const { return unknown_; }

  const std::vector<double>& offsets() const { return offsets_; }
  /// Names in quotes.
  const std::vector<std::string>& missing() const { return missing_; }
  std::vector<CsvColumn> take() { return std::move(columns_); }

 private:
  CsvColumn* find(const std::string& name) {
    const std::optional<size_t> place = places_.of(name);
    return place ? &columns_[*place] : nullptr;
  }

  CsvColumn* require(const std::string& name) {
    CsvColumn* column = find(name);
    if (column == nullptr) missing_.push_back(in_quotes(name));
    return column;
  }

  // A pattern that is a name too means that column alone.
  void keep(const std::string& pattern, size_t& num_ids) {
    const bool is_name = find(pattern) != nullptr;
    bool fits = false;
    for (CsvColumn& column : columns_) {
      const bool is_meant =
          is_name ? column.name == pattern : matches_any(column.name, {&pattern, 1});
      if (!is_meant) continue;
      fits = true;
      if (column.role == Role::kId || column.kept) continue;
      if (column.role == Role::kSkipped) {
        set_place(&column, Role::kId, num_ids++);
      } else {
        column.kept = num_ids++;
      }
    }
    if (!fits) unknown_.push_back(pattern);
  }

  static void set_place(CsvColumn* column, Role role, size_t place) {
    if (column == nullptr) return;
    column->role = role;
    column->place = place;
  }

  void set_feature(CsvColumn* column, const Column& trained) {
    if (column == nullptr) return;
    offsets_[static_cast<size_t>(column - columns_.data())] = trained.offset;
    const bool is_number = trained.kind == ColumnKind::kNumeric;
    column->role = is_number ? Role::kNumber : Role::kText;
    column->kind = trained.kind;
    column->is_trained = true;
    column->refuses_missing = is_number && !trained.fill;
  }

  Places places_;
  std::vector<CsvColumn> columns_;
  std::vector<double> offsets_;  // [names]
  std::vector<std::string> missing_;
  std::vector<std::string> unknown_;
};

}  // namespace

std::vector<std::string> read_names(CsvCursor& cursor, const std::string& place) {
  std::vector<std::string> names;
  while (cursor.in_row()) names.emplace_back(cursor.next_field());
  require_good_names(place, names);
  return names;
}

void require_several(const std::vector<std::string>& names, const std::string& place,
                     char delimiter, const std::string& option) {
  if (names.size() > 1) return;
  const std::string& only_name = names.front();
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
  throw data_error(place, fmt::format("the delimiter {} gives just one column, {}; {}",
                                      delimiter_name(delimiter), in_quotes(only_name), fix));
}

CsvHeader header_of(const std::string& place, const std::vector<std::string>& names,
                    const CsvOptions& options) {
  struct List {
    const char* key;
    const std::vector<std::string>& names;
    Role role;
    ColumnKind kind;
  };
  const List lists[] = {
      {"data.ignore", options.ignored, Role::kSkipped, ColumnKind::kLeftOut},
      {"data.id", options.id, Role::kSkipped, ColumnKind::kId},
      {"data.numeric", options.numeric, Role::kNumber, ColumnKind::kNumeric},
      {"data.categorical", options.categorical, Role::kText, ColumnKind::kCategorical}};
  RoleList roles(place, names);
  for (size_t i = 0; i < options.targets.size(); ++i) roles.set_target(options.targets[i], i);
  for (const List& list : lists) roles.set_all(list.key, list.names, list.role, list.kind);
  if (!options.split_column.empty()) {
    roles.set("data.split_column", options.split_column, Role::kPart, ColumnKind::kLeftOut);
  }
  if (!options.group.empty()) {
    roles.set("data.group", options.group, Role::kGroup, ColumnKind::kLeftOut);
  }
  if (!options.weight.empty()) {
    roles.set("data.weight", options.weight, Role::kWeight, ColumnKind::kLeftOut);
  }
  if (!options.time.empty()) roles.set_time(options.time);
  roles.end_names();
  for (const List& list : lists) roles.set_matching(list.key, list.names, list.role, list.kind);

  CsvHeader header{place, roles.take()};
  header.drops_rows_without_target = options.drop_rows_without_target;
  header.is_of_training = true;
  for (CsvColumn& column : header.columns) {
    column.refuses_missing = options.fill == config::Fill::kError;
  }
  count_features(header);
  if (header.num_features == 0) {
    throw data_error(place, fmt::format("no feature columns are left beside the target {}; take "
                                        "some out of data.ignore and data.id",
                                        joined(quoted(options.targets))));
  }
  return header;
}

CsvHeader header_of(const std::string& place, const std::vector<std::string>& names,
                    const TrainedColumns& trained, char delimiter) {
  TrainedRoles roles(names);
  roles.set(trained);
  if (!roles.missing().empty()) {
    require_several(names, place, delimiter, trained.delimiter_option);
    throw data_error(
        place, fmt::format("expected the columns of the training data, but {} {} not "
                           "in the header",
                           joined(roles.missing()), roles.missing().size() == 1 ? "is" : "are"));
  }
  if (!roles.unknown().empty()) {
    const std::string& first = roles.unknown().front();
    throw data_error(place, fmt::format("--keep: {} {} in the header; {}", in_quotes(first),
                                        is_pattern(first) ? "fits no column" : "is not",
                                        missing_column_help(first, names)));
  }
  CsvHeader header{place, roles.take()};
  header.offsets = roles.offsets();
  header.decimal_option =
      trained.delimiter_option.starts_with("--") ? "choose --decimal ," : header.decimal_option;
  header.drops_rows_without_target = trained.drop_rows_without_target;
  count_features(header);
  return header;
}

void count_features(CsvHeader& header) {
  header.numbers_from.resize(header.columns.size());
  header.offsets.resize(header.columns.size());
  header.num_features = 0;
  size_t run = 0;
  for (size_t column = header.columns.size(); column-- > 0;) {
    const Role role = header.columns[column].role;
    // A cell that is needed as text as well is no plain number.
    const bool is_plain = !header.columns[column].kept && !header.columns[column].is_time;
    run = role == Role::kNumber && is_plain ? run + 1 : 0;
    header.numbers_from[column] = run;
    if (role == Role::kNumber || role == Role::kText) ++header.num_features;
  }
}

}  // namespace trainer::data
