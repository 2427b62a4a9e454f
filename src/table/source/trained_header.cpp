// SPDX-License-Identifier: Apache-2.0
#include "table/source/trained_header.h"

#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/suggest.h"

#include "table/error.h"
#include "table/source/column_names.h"

namespace trainer::data {
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

}  // namespace trainer::data
