// SPDX-License-Identifier: Apache-2.0
#include "trainer/plan/first_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/text.h"
#include "trainer/data/csv.h"

namespace trainer::plan {
namespace {

using data::ColumnFacts;
using data::TableFacts;

constexpr int64_t kFew = 10;          // values that could be kinds, though they are numbers
constexpr int64_t kMostClasses = 20;  // of whole numbers; more are an amount
constexpr int64_t kMostNames = 100;   // of texts, to be proposed as classes

bool is_constant(const ColumnFacts& column) {
  if (column.num_missing > 0 || column.num_values() == 0) return false;
  if (column.num_texts == 0) return column.least == column.most;
  return column.num_different == 1;
}

bool is_mixed(const ColumnFacts& column) { return column.num_numbers > 0 && column.num_texts > 0; }

// Whether each row has a value of its own, in so many rows that this is no accident.
bool is_unique(const ColumnFacts& column) {
  return column.num_missing == 0 && column.num_different > kFew && !column.has_repeats;
}

bool names_rows(const ColumnFacts& column) { return is_unique(column) && column.num_numbers == 0; }

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

bool is_classes(const ColumnFacts& column) {
  return column.num_texts > 0 || (column.is_whole && column.num_different <= kMostClasses);
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

void decide_column(const ColumnFacts& column, FirstConfig& first) {
  if (column.num_values() == 0) {
    first.ignore.push_back({column.name, "no value in any row"});
  } else if (is_constant(column)) {
    first.ignore.push_back({column.name, "the same value in every row"});
  } else if (names_rows(column)) {
    first.id.push_back({column.name, "another text in every row"});
  } else if (numbers_rows(column)) {
    first.id.push_back({column.name, "another whole number in every row"});
  } else if (is_mixed(column) || column.num_with_commas > 0) {
    decide_mixed(column, first);
  }
}

const ColumnFacts& find_target(const TableFacts& table, const std::string& target) {
  std::vector<std::string> names;
  names.reserve(table.columns.size());
  for (const ColumnFacts& column : table.columns) {
    if (column.name == target) return column;
    names.push_back(column.name);
  }
  const auto near = nearest_word(target, names);
  throw Error(ErrorKind::kUsage,
              fmt::format("--target: {} has no column {}; {}", table.file, in_quotes(target),
                          near ? fmt::format("did you mean {}?", in_quotes(*near))
                               : "trainer init without --target lists them"));
}

void require_learnable(const TableFacts& table, const ColumnFacts& target) {
  const std::string name = in_quotes(target.name);
  if (target.num_with_commas > 0) {
    throw Error(ErrorKind::kData,
                fmt::format("{}:{}: column {}: expected a number, got {}; write it without a "
                            "comma: {}",
                            table.file, target.first_text_line, name, in_quotes(target.first_text),
                            target.without_commas));
  }
  const bool is_open = target.num_different == 0 || target.num_different > data::kMaxLabels;
  const bool hardly_repeats = 2 * target.num_different > target.num_values();
  if (target.num_texts > 0 && (is_open || (target.num_different > kFew && hardly_repeats))) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: column {} cannot be predicted: its texts hardly ever repeat; "
                            "choose another --target",
                            table.file, name));
  }
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
  config.training.early_stopping.patience = std::max<int64_t>(5, sizes.epochs / 5);
}

// Accuracy of few rows, or of classes of which one has most rows, moves in large leaps or not at
// all.
bool is_accuracy_telling(const ColumnFacts& target, double num_validation) {
  if (num_validation < 100 || target.labels.empty()) return false;
  const auto [least, most] =
      std::minmax_element(target.labels.begin(), target.labels.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  return 3 * least->second >= most->second;
}

std::string delimiter_of(const TableFacts& table) {
  if (table.delimiter == data::csv_delimiter("auto", table.file)) return "auto";
  if (table.delimiter == ';') return "semicolon";
  if (table.delimiter == '\t') return "tab";
  return table.delimiter == ',' ? "comma" : std::string(1, table.delimiter);
}

// The name of the file in the characters of a tag.
std::string tag_of(const std::string& file) {
  constexpr std::size_t kLongest = 40;
  std::string tag = std::filesystem::path(file).stem().string().substr(0, kLongest);
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
  if (column.num_missing > 0 || column.num_values() == 0 || is_constant(column) ||
      names_rows(column) || numbers_rows(column) || column.num_with_commas > 0) {
    return "";
  }
  if (!is_classes(column)) return "a number";
  const bool is_plausible =
      column.num_different > 1 && column.num_different <= kMostNames &&
      (column.num_different <= kFew || 2 * column.num_different <= column.num_values());
  return is_plausible ? fmt::format("{} classes", column.num_different) : "";
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

FirstConfig make_first_config(const TableFacts& table, const std::string& target) {
  const ColumnFacts& facts = find_target(table, target);
  require_learnable(table, facts);
  FirstConfig first;
  for (const ColumnFacts& column : table.columns) {
    if (column.name != target) decide_column(column, first);
  }
  config::Config& config = first.config;
  config.tag = tag_of(table.file);
  config.data.source = config::Source::kCsv;
  config.data.path = std::filesystem::absolute(table.file).lexically_normal().string();
  config.data.delimiter = delimiter_of(table);
  config.data.target = {target};
  config.data.task = is_classes(facts) ? config::Task::kClassification : config::Task::kRegression;
  const double fraction = table.num_rows < 2'000 ? 0.2 : table.num_rows < 200'000 ? 0.1 : 0.05;
  config.data.validation_fraction = fraction;
  config.data.test_fraction = fraction;
  const auto num_rows = static_cast<double>(table.num_rows);
  choose_sizes(std::llround((1 - 2 * fraction) * num_rows), config);
  if (is_classes(facts) && is_accuracy_telling(facts, fraction * num_rows)) {
    config.training.best_metric = config::BestMetric::kAccuracy;
  }
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

}  // namespace trainer::plan
