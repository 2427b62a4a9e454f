// SPDX-License-Identifier: Apache-2.0
#include "trainer/wizard/first_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/find_by_name.h"
#include "trainer/core/format.h"
#include "trainer/core/parse.h"
#include "trainer/core/suggest.h"
#include "trainer/data/csv_format.h"
#include "trainer/data/task.h"

namespace trainer::wizard {
namespace {

using data::ColumnFacts;
using data::TableFacts;

constexpr int64_t kFew = 10;         // values that could be kinds, though they are numbers
constexpr int64_t kMostNames = 100;  // of texts, to be proposed as classes

// Missing cells beside the same text tell something; beside the same number they are filled with
// it.
bool is_constant(const ColumnFacts& column) {
  if (column.num_values() == 0) return false;
  if (column.num_texts == 0) return column.least == column.most;
  return column.num_different == 1 && column.num_missing == 0;
}

bool is_mixed(const ColumnFacts& column) { return column.num_numbers > 0 && column.num_texts > 0; }

// Whether each row has a value of its own, in so many rows that this is no accident.
bool is_unique(const ColumnFacts& column) {
  return column.num_missing == 0 && column.num_different > kFew && !column.has_repeats;
}

// Some hexadecimal numbers have no letter, or look like 12e4.
bool names_rows(const ColumnFacts& column) {
  return is_unique(column) && column.num_texts > column.num_numbers;
}

// "id", "passenger_id", "PassengerId", "ID".
bool is_called_id(const std::string& name) {
  const std::string lower = lower_case(name);
  return lower == "id" || lower == "index" || lower.ends_with("_id") || lower.ends_with(" id") ||
         name.ends_with("Id") || name.ends_with("ID");
}

bool numbers_rows(const ColumnFacts& column) {
  return is_unique(column) && column.num_texts == 0 &&
         (column.is_counting || is_called_id(column.name));
}

data::TaskChoice task_of(const ColumnFacts& column) {
  return data::infer_task({.all_numbers = column.num_texts == 0,
                           .all_whole = column.num_texts == 0 && column.is_whole,
                           .num_different = column.num_different,
                           .least = column.least,
                           .most = column.most,
                           .num_rows = column.num_values()});
}

bool is_called_target(const std::string& name) {
  static constexpr std::array<std::string_view, 19> kNames = {
      "target",   "label",    "labels",   "class",  "y",     "outcome", "response",
      "species",  "category", "result",   "digit",  "price", "quality", "diagnosis",
      "survived", "churn",    "expected", "answer", "score"};
  const std::string lower = lower_case(name);
  return std::find(kNames.begin(), kNames.end(), lower) != kNames.end() ||
         lower.ends_with("_label") || lower.ends_with("_class") || lower.ends_with("_target");
}

std::string mixed_reason(const ColumnFacts& column) {
  if (column.num_with_commas == column.num_texts) {
    return fmt::format("numbers with a comma, the first in line {}: {}; write it {}",
                       column.first_text_line, in_quotes(column.first_text), column.without_commas);
  }
  return fmt::format("{} of {} values are no numbers, the first in line {}: {}",
                     with_thousands(column.num_texts), with_thousands(column.num_values()),
                     column.first_text_line, in_quotes(column.first_text));
}

void decide_mixed(const ColumnFacts& column, FirstConfig& first) {
  const bool is_few = column.num_different > 0 && column.num_different <= kFew;
  if (column.num_with_commas < column.num_texts &&
      (is_few || column.num_texts > column.num_numbers)) {
    first.categorical.push_back({column.name, "numbers and texts"});
  } else {
    first.ignore.push_back({column.name, mixed_reason(column)});
  }
}

// Whether predictions have a column of that name, beside which an id of that name cannot stand.
bool is_of_predictions(const std::string& name, const ColumnFacts& target) {
  if (name == "prediction") return true;
  return std::any_of(target.labels.begin(), target.labels.end(),
                     [&](const auto& label) { return name == "p_" + label.first; });
}

void add_id(const ColumnFacts& column, const ColumnFacts& target, const std::string& reason,
            FirstConfig& first) {
  if (is_of_predictions(column.name, target)) {
    first.ignore.push_back({column.name, reason + "; predictions have a column of that name"});
  } else {
    first.id.push_back({column.name, reason});
  }
}

void decide_column(const ColumnFacts& column, const ColumnFacts& target, FirstConfig& first) {
  if (column.num_values() == 0) {
    first.ignore.push_back({column.name, "no value in any row"});
  } else if (is_constant(column)) {
    first.ignore.push_back({column.name, column.num_missing == 0
                                             ? "the same value in every row"
                                             : "the same number in every row that has one"});
  } else if (names_rows(column)) {
    add_id(column, target, "another text in every row", first);
  } else if (numbers_rows(column)) {
    add_id(column, target, "another whole number in every row", first);
  } else if (is_mixed(column) || column.num_with_commas > 0) {
    decide_mixed(column, first);
  }
}

const ColumnFacts& find_target(const TableFacts& table, const std::string& target) {
  if (const ColumnFacts* found = find_by_name(table.columns, target)) return *found;
  std::vector<std::string> names;
  names.reserve(table.columns.size());
  for (const ColumnFacts& column : table.columns) names.push_back(column.name);
  const auto near = nearest_word(target, names);
  throw Error(ErrorKind::kUsage,
              fmt::format("--target: {} has no column {}; {}", table.file, in_quotes(target),
                          near ? fmt::format("did you mean {}?", in_quotes(*near))
                               : "trainer init without --target lists them"));
}

void require_learnable(const TableFacts& table, const ColumnFacts& target, config::Task task) {
  const std::string name = in_quotes(target.name);
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: column {} cannot be predicted: {}", table.file, name, why));
  };
  if (target.num_with_commas > 0) {
    throw Error(ErrorKind::kData,
                fmt::format("{}:{}: column {}: expected a number, got {}; write it {}", table.file,
                            target.first_text_line, name, in_quotes(target.first_text),
                            target.without_commas));
  }
  if (target.num_texts == 0) return;
  if (target.num_different == 0 || task == config::Task::kRegression) {
    refuse(mixed_reason(target) + "; correct them or choose another --target");
  }
  if (target.num_different > kFew && 2 * target.num_different > target.num_values()) {
    refuse("its texts hardly ever repeat; choose another --target");
  }
  if (target.num_different > data::kMaxLabels && task == config::Task::kAuto) {
    refuse(
        fmt::format("it has more than {} different labels; choose another --target, or --task "
                    "classification if they all are classes",
                    with_thousands(data::kMaxLabels)));
  }
}

// What stands for a missing value in tables that people keep.
bool looks_missing(const std::string& text) {
  static constexpr std::array<std::string_view, 11> kNames = {
      "unknown",       "missing", "nil",  "n.a.", "n.a",      "n/d",
      "not available", "nd",      "k.a.", "void", "undefined"};
  const bool has_letters = std::any_of(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; });
  const std::string lower = lower_case(text);
  return !has_letters || std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
}

// Texts in a column of numbers, when they are such or hardly any: -, unknown, 12O.
void add_text_codes(const ColumnFacts& column, std::vector<MissingCode>& codes) {
  constexpr int64_t kHardlyAny = 100;  // numbers for each text
  if (column.num_with_commas > 0 || column.num_numbers < kFew) return;
  const bool are_few = kHardlyAny * column.num_texts <= column.num_numbers &&
                       (column.num_different == 0 || column.num_different > kFew);
  for (const auto& [text, count] : column.odd_texts) {
    if (are_few || looks_missing(text)) codes.push_back({column.name, text, count});
  }
}

// -999 below numbers that are far closer to each other.
void add_number_code(const ColumnFacts& column, std::vector<MissingCode>& codes) {
  if (column.num_numbers == column.num_least || column.least >= 0) return;
  const std::string text = shortest(column.least);
  const bool is_nines = text.find_first_not_of('9', 1) == std::string::npos;
  const double distance = column.next_least - column.least;
  if (!is_nines || distance <= column.most - column.next_least) return;
  codes.push_back({column.name, text, column.num_least});
}

// As little as separates what is there: a table of a few hundred rows is learnt by heart at once.
void choose_sizes(int64_t num_train, config::Config& config) {
  struct Sizes {
    int64_t rows_below;
    int64_t width;
    int64_t epochs;
    int64_t batch_size;
    double learning_rate;
  };
  static constexpr std::array<Sizes, 5> kSizes = {{{1'000, 32, 100, 32, 3e-3},
                                                   {10'000, 64, 60, 32, 3e-3},
                                                   {100'000, 128, 30, 128, 2e-3},
                                                   {1'000'000, 256, 15, 512, 1e-3},
                                                   {INT64_MAX, 256, 8, 2048, 1e-3}}};
  const Sizes& sizes = *std::find_if(kSizes.begin(), kSizes.end(), [&](const Sizes& candidate) {
    return num_train < candidate.rows_below;
  });
  config.model.hidden_sizes = {sizes.width, sizes.width};
  config.training.epochs = sizes.epochs;
  config.training.batch_size = sizes.batch_size;
  config.training.learning_rate = sizes.learning_rate;
  config.training.early_stopping.patience = std::max<int64_t>(5, sizes.epochs / 2);
}

std::string delimiter_of(const TableFacts& table) {
  if (table.delimiter == data::csv_delimiter("auto", table.file, table.decimal)) return "auto";
  const std::string name = data::delimiter_name(table.delimiter);
  return name.front() == '\'' ? std::string(1, table.delimiter) : name;
}

// The name of the file in the characters of a tag.
std::string tag_of(const std::string& file) {
  constexpr std::size_t kLongest = 40;
  std::filesystem::path path(file);
  if (path.extension() == ".gz") path = path.stem();
  std::string tag = path.stem().string().substr(0, kLongest);
  for (char& c : tag) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  return tag;
}

void add_names(std::vector<std::string>& names, const std::vector<Exception>& exceptions) {
  names.clear();
  names.reserve(exceptions.size());
  for (const Exception& exception : exceptions) names.push_back(exception.column);
}

void write_lists(FirstConfig& first) {
  add_names(first.config.data.id, first.id);
  add_names(first.config.data.ignore, first.ignore);
  add_names(first.config.data.categorical, first.categorical);
}

}  // namespace

std::string kind_text(const ColumnFacts& column) {
  if (column.num_values() == 0) return "nothing";
  if (is_constant(column)) return "always the same";
  if (names_rows(column)) return "names of rows";
  if (numbers_rows(column)) return "row numbers";
  if (column.num_with_commas > 0 && column.num_with_commas == column.num_texts) {
    return "comma numbers";
  }
  if (is_mixed(column)) return "numbers and text";
  if (column.num_texts > 0) return "text";
  return column.is_whole ? "whole numbers" : "numbers";
}

std::string target_text(const ColumnFacts& column) {
  if (column.num_values() == 0 || is_constant(column) || names_rows(column) ||
      numbers_rows(column) || column.num_with_commas > 0) {
    return "";
  }
  if (task_of(column).task == config::Task::kRegression) return "a number";
  const bool is_plausible =
      column.num_different > 1 && column.num_different <= kMostNames &&
      (column.num_different <= kFew || 2 * column.num_different <= column.num_values());
  return is_plausible ? fmt::format("{} classes", column.num_different) : "";
}

bool groups_rows(const ColumnFacts& column) {
  return is_called_id(column.name) && column.is_whole && column.has_repeats &&
         column.num_different > kFew;
}

std::vector<std::string> likely_targets(const TableFacts& table) {
  std::vector<std::string> likely;
  const auto add = [&](const ColumnFacts& column) {
    const bool is_new = std::find(likely.begin(), likely.end(), column.name) == likely.end();
    if (is_new && !target_text(column).empty()) likely.push_back(column.name);
  };
  for (const ColumnFacts& column : table.columns) {
    if (is_called_target(column.name)) add(column);
  }
  const auto last = std::find_if(table.columns.rbegin(), table.columns.rend(),
                                 [](const auto& column) { return !target_text(column).empty(); });
  if (last != table.columns.rend()) add(*last);
  if (table.columns.front().num_texts > 0) add(table.columns.front());
  return likely;
}

std::vector<MissingCode> find_missing_codes(const TableFacts& table) {
  std::vector<MissingCode> codes;
  for (const ColumnFacts& column : table.columns) {
    add_text_codes(column, codes);
    if (column.num_texts == 0) add_number_code(column, codes);
  }
  return codes;
}

FirstConfig make_first_config(const TableFacts& table, const std::string& target,
                              config::Task task) {
  const ColumnFacts& facts = find_target(table, target);
  require_learnable(table, facts, task);
  FirstConfig first;
  for (const ColumnFacts& column : table.columns) {
    if (column.name != target) decide_column(column, facts, first);
  }
  config::Config& config = first.config;
  config.tag = tag_of(table.file);
  config.data.source = config::Source::kCsv;
  config.data.path = std::filesystem::absolute(table.file).lexically_normal().string();
  config.data.delimiter = delimiter_of(table);
  config.data.decimal = std::string(1, table.decimal);
  config.data.missing = table.missing;
  config.data.target = {target};
  config.data.task = task;
  if (task == config::Task::kAuto) {
    const data::TaskChoice choice = task_of(facts);
    config.data.task = choice.task;
    first.task_reason = choice.reason;
    if (!choice.otherwise.empty()) first.task_reason += "; " + choice.otherwise;
  }
  config.data.drop_rows_without_target = facts.num_missing > 0;
  const int64_t num_rows = facts.num_values();
  const double fraction = num_rows < 2'000 ? 0.2 : num_rows < 200'000 ? 0.1 : 0.05;
  config.data.validation_fraction = fraction;
  config.data.test_fraction = fraction;
  choose_sizes(std::llround((1 - 2 * fraction) * static_cast<double>(num_rows)), config);
  write_lists(first);
  return first;
}

void add_left_out(FirstConfig& first, const data::Schema& schema) {
  for (const data::Column& column : schema.columns) {
    if (column.kind != data::ColumnKind::kLeftOut || column.is_declared) continue;
    first.ignore.push_back({column.name, column.reason});
  }
  write_lists(first);
}

}  // namespace trainer::wizard
