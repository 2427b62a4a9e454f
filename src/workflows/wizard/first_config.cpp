// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/wizard/first_config.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/enum_names.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/suggest.h"
#include "trainer/config/recipe.h"
#include "trainer/table/schema/target.h"
#include "trainer/table/source/csv_format.h"
#include "trainer/workflows/wizard/column_kinds.h"

namespace trainer::wizard {
namespace {

using data::ColumnFacts;
using data::TableFacts;

std::string mixed_reason(const ColumnFacts& column) {
  if (column.num_with_commas == column.num_texts) {
    return fmt::format(
        "numbers with a decimal comma or thousands separator, the first in line {}: {}; write it "
        "as {}",
        column.first_non_number_line, in_quotes(column.first_non_number), column.without_commas);
  }
  return fmt::format("{} of {} values are not numbers, the first in line {}: {}",
                     with_thousands(column.num_texts), with_thousands(column.num_values()),
                     column.first_non_number_line, in_quotes(column.first_non_number));
}

std::string odd_reason(const ColumnFacts& column, int64_t num_good) {
  return fmt::format("{} of {} values are not {}, the first in line {}: {}",
                     with_thousands(column.num_values() - num_good),
                     with_thousands(column.num_values()),
                     has_dates(column) ? "dates" : "numbers with a unit",
                     column.first_non_number_line, in_quotes(column.first_non_number));
}

void decide_mixed(const ColumnFacts& column, FirstConfig& first) {
  const bool is_few = column.num_distinct > 0 && column.num_distinct <= kFewValues;
  if (column.num_with_commas < column.num_texts &&
      (is_few || column.num_texts > column.num_numbers)) {
    first.categorical.push_back({column.name, "numbers and text"});
  } else {
    first.ignore.push_back({column.name, mixed_reason(column)});
  }
}

// Whether the file of predictions has a column of this name, so that an id of the same name cannot
// be copied to it.
bool is_of_predictions(const std::string& name, const ColumnFacts& target) {
  if (name == "prediction") return true;
  return std::any_of(target.labels.begin(), target.labels.end(),
                     [&](const auto& label) { return name == "p_" + label.first; });
}

void add_id(const ColumnFacts& column, const ColumnFacts& target, const std::string& reason,
            FirstConfig& first) {
  if (is_of_predictions(column.name, target)) {
    first.ignore.push_back({column.name, reason + "; the predictions have a column of this name"});
  } else {
    first.id.push_back({column.name, reason});
  }
}

void decide_column(const ColumnFacts& column, const ColumnFacts& target, FirstConfig& first) {
  if (!column.unusable_type.empty()) {
    first.ignore.push_back({column.name, data::unusable_reason(column.unusable_type)});
  } else if (column.num_values() == 0) {
    first.ignore.push_back({column.name, "no values"});
  } else if (is_constant(column)) {
    first.ignore.push_back({column.name, column.num_missing == 0
                                             ? "constant"
                                             : "constant, apart from missing values"});
  } else if (has_dates(column) || has_unit(column)) {
    const int64_t num_good = has_dates(column) ? column.num_dates : column.num_with_unit;
    if (num_good < column.num_values()) {
      first.ignore.push_back({column.name, odd_reason(column, num_good)});
    }
  } else if (names_rows(column)) {
    add_id(column, target, "a different text in every row", first);
  } else if (numbers_rows(column)) {
    add_id(column, target, "a different integer in every row", first);
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
                fmt::format("{}:{}: column {}: expected a number, got {}; write it as {}",
                            table.file, target.first_non_number_line, name,
                            in_quotes(target.first_non_number), target.without_commas));
  }
  if (has_unit(target)) {
    refuse(fmt::format("its numbers have a unit, such as {}; write them without it",
                       in_quotes(target.first_value)));
  }
  if (target.num_texts == 0) return;
  if (target.num_distinct == 0 || task == config::Task::kRegression) {
    refuse(mixed_reason(target) + "; correct them or choose another --target");
  }
  if (target.num_distinct > kFewValues && 2 * target.num_distinct > target.num_values()) {
    refuse("almost every text is different; choose another --target");
  }
  if (target.num_distinct > data::kMaxLabels && task == config::Task::kAuto) {
    refuse(
        fmt::format("more than {} distinct labels; choose another --target, or --task "
                    "classification if all of them are classes",
                    with_thousands(data::kMaxLabels)));
  }
}

std::string delimiter_choice(const TableFacts& table) {
  if (table.delimiter == data::csv_delimiter("auto", table.file, table.decimal)) return "auto";
  const std::string name = data::delimiter_name(table.delimiter);
  return name.front() == '\'' ? std::string(1, table.delimiter) : name;
}

// The name of the file, or of its folder if it is a pattern, with only the characters that a tag
// may have.
std::string make_tag(const std::string& file) {
  constexpr std::size_t kMaxLength = 40;
  std::filesystem::path path(file);
  if (path.filename().string().find_first_of("*?[") != std::string::npos) path = path.parent_path();
  if (!path.has_filename()) path = path.parent_path();  // "folder/"
  if (path.extension() == ".gz" || path.extension() == ".zst") path = path.stem();
  std::string tag = path.stem().string().substr(0, kMaxLength);
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

constexpr int64_t kMembers = 5;

// Where rows are few, all are learned from, and out-of-fold predictions give the metrics. The
// validation split is that of a member.
void choose_splits(int64_t num_rows, config::Config& config) {
  constexpr int64_t kEnoughForTest = 20'000;
  config.data.validation_fraction = 1.0 / kMembers;
  config.data.test_fraction = num_rows < kEnoughForTest ? 0 : num_rows < 200'000 ? 0.1 : 0.05;
}

}  // namespace

FirstConfig make_first_config(const TableFacts& table, const std::string& target,
                              config::Task task) {
  const ColumnFacts& facts = find_target(table, target);
  require_learnable(table, facts, task);
  FirstConfig first;
  for (const ColumnFacts& column : table.columns) {
    if (column.name != target) decide_column(column, facts, first);
  }
  config::Config& config = first.config;
  if (table.query.empty()) {
    config.tag = make_tag(table.file);
    config.data.source = config::Source::kCsv;
    config.data.path = std::filesystem::absolute(table.file).lexically_normal().string();
  } else {
    config.data.source = config::Source::kQuery;
    config.data.query = table.query;
    config.data.query_folder = std::filesystem::current_path().string();
  }
  config.data.delimiter = delimiter_choice(table);
  config.data.decimal = std::string(1, table.decimal);
  if (table.thousands != '\0') {
    config.data.thousands = table.thousands == ' ' ? "space" : std::string(1, table.thousands);
  }
  config.data.missing = table.missing;
  config.data.target = {target};
  config.data.task = task;
  if (task == config::Task::kAuto) {
    const data::TaskChoice choice = infer_task(facts);
    config.data.task = choice.task;
    first.task_reason = choice.reason;
    if (!choice.otherwise.empty()) first.task_reason += "; " + choice.otherwise;
  }
  config.data.drop_rows_without_target = facts.num_missing > 0;
  choose_splits(facts.num_values(), config);
  config::set_recipe(config, config::Recipe::kRealmlp);
  write_lists(first);
  return first;
}

void add_left_out(FirstConfig& first, const data::Schema& schema) {
  for (const data::Column& column : schema.columns) {
    const bool is_open = !column.is_declared && column.source.empty();
    if (column.kind != data::ColumnKind::kIgnored || !is_open) continue;
    first.ignore.push_back({column.name, column.reason});
  }
  write_lists(first);
}

namespace {

// Short runs that validate on different fifths are together more accurate than a long one, those of
// two recipes by some percent more than those of RealMLP, in half as much time again: they are
// taken where it is a matter of seconds (docs/quality.md). With fewer than 8 epochs RealMLP is no
// better than the plain recipe.
constexpr int64_t kRealmlpMembers = 3;
constexpr int64_t kEpochs = 32;
constexpr int64_t kMinEpochs = 8;
constexpr int64_t kMinRowsForMembers = 50;
constexpr double kSoon = 10;  // seconds
constexpr const char* kEnough = "more take longer and are seldom better";

// Chooses a small network for few rows: a larger one soon memorizes a table of a few hundred rows.
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

// The epochs of a short run. Where rows are few, an epoch of RealMLP is a step or two of 64 rows,
// and 32 of them leave the network half trained, so that the best epoch is the last one or chance.
int64_t short_epochs(const TrainingRows& rows) {
  constexpr int64_t kBatchSize = 64;
  constexpr int64_t kFewestSteps = 128;
  const int64_t epoch_steps = std::max<int64_t>(rows.num_rows / kBatchSize, 1);
  return std::max(kEpochs, kFewestSteps / epoch_steps);
}

// Whether members of two recipes are trained soon, and within the time; if so, chooses them.
bool choose_two_recipes(FirstConfig& first, const TrainingRows& rows,
                        const EpochSeconds& epoch_seconds, double time_limit) {
  config::Config& config = first.config;
  config.members = kMembers;
  const int64_t epochs = short_epochs(rows);
  double seconds = 0;  // of an epoch of all members
  for (const auto& [recipe, count] : {std::pair(config::Recipe::kTabm, kMembers - kRealmlpMembers),
                                      std::pair(config::Recipe::kRealmlp, kRealmlpMembers)}) {
    config::set_recipe(config, recipe);
    seconds += static_cast<double>(count) * epoch_seconds(config);
  }
  const double all_seconds = static_cast<double>(epochs) * seconds;
  if (all_seconds > std::min(time_limit, kSoon)) return false;
  config.member_recipes = {config::to_text(config::Recipe::kRealmlp),
                           config::to_text(config::Recipe::kTabm)};
  config.training.epochs = epochs;
  first.training_seconds = all_seconds;
  first.time_reason = kEnough;
  return true;
}

// Whether a linear model suits these rows better than any network (docs/quality.md): where features
// are nearly as many as rows, and where it explains nearly all by many columns, as of spectra,
// which networks tell less well from each other.
bool is_linear(const TrainingRows& rows) {
  constexpr int64_t kMany = 20;
  constexpr double kNearlyAll = 0.9;
  if (3 * rows.num_features > 2 * rows.num_rows) return true;
  return rows.has_only_numbers && rows.num_features >= kMany &&
         kMany * rows.num_features > rows.num_rows && rows.linear_r2() > kNearlyAll;
}

bool choose_linear(FirstConfig& first, const TrainingRows& rows, const EpochSeconds& epoch_seconds,
                   double time_limit) {
  config::Config& config = first.config;
  if (config.data.task != config::Task::kRegression || !is_linear(rows)) return false;
  config.members = kMembers;
  config::set_recipe(config, config::Recipe::kLinear);
  first.training_seconds =
      static_cast<double>(kMembers * config.training.epochs) * epoch_seconds(config);
  first.time_reason = kEnough;
  return first.training_seconds <= time_limit;
}

// Chooses as many epochs of RealMLP as fit for so many members. Returns whether these are enough.
bool choose_realmlp(FirstConfig& first, const TrainingRows& rows, int64_t members,
                    const EpochSeconds& epoch_seconds, double time_limit) {
  config::Config& config = first.config;
  config.members = members;
  config::set_recipe(config, config::Recipe::kRealmlp);
  if (members > 1) config.training.epochs = short_epochs(rows);
  const double seconds = epoch_seconds(config);
  const auto fitting = static_cast<int64_t>(time_limit / (static_cast<double>(members) * seconds));
  if (fitting < kMinEpochs) {
    first.time_reason = fmt::format("not enough time for realmlp, of which an epoch takes about {}",
                                    human_duration(seconds));
    return false;
  }
  first.time_reason =
      fitting < config.training.epochs ? "as many as fit on the machine that wrote this" : kEnough;
  config.training.epochs = std::min(fitting, config.training.epochs);
  first.training_seconds = seconds * static_cast<double>(members * config.training.epochs);
  return true;
}

}  // namespace

void choose_training(FirstConfig& first, const TrainingRows& rows,
                     const EpochSeconds& epoch_seconds, double time_limit) {
  if (rows.num_rows >= kMinRowsForMembers &&
      (choose_linear(first, rows, epoch_seconds, time_limit) ||
       choose_two_recipes(first, rows, epoch_seconds, time_limit) ||
       choose_realmlp(first, rows, kMembers, epoch_seconds, time_limit))) {
    return;
  }
  if (choose_realmlp(first, rows, 1, epoch_seconds, time_limit)) return;
  config::set_recipe(first.config, config::Recipe::kPlain);
  choose_sizes(rows.num_rows, first.config);
  first.config.training.max_seconds = first.training_seconds = time_limit;
}

}  // namespace trainer::wizard
