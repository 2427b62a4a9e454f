// SPDX-License-Identifier: Apache-2.0
#include "table/source/table_header.h"

#include <optional>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"

#include "table/error.h"
#include "table/source/column_names.h"
#include "table/source/date_parts.h"

namespace trainer::data {
namespace {

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

}  // namespace trainer::data
