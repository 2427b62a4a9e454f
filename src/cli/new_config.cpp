// SPDX-License-Identifier: Apache-2.0
#include "cli/new_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/log.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/document.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/base/text/print_safely.h"
#include "trainer/config/fields.h"
#include "trainer/config/load.h"
#include "trainer/config/recipe.h"
#include "trainer/nn/cpu/peak.h"
#include "trainer/nn/schedule/learning_rate.h"
#include "trainer/nn/spec/build.h"
#include "trainer/table/cached/load.h"
#include "trainer/table/dataset.h"
#include "trainer/table/source/csv_format.h"
#include "trainer/table/source/inspect.h"
#include "trainer/table/source/table_source.h"
#include "trainer/workflows/wizard/column_kinds.h"
#include "trainer/workflows/wizard/first_config.h"
#include "trainer/workflows/wizard/first_config_text.h"
#include "trainer/workflows/wizard/linear_fit.h"

#include "cli/model_options.h"
#include "cli/print_document.h"
#include "cli/typed_line.h"

namespace trainer::cli {
namespace {

namespace fs = std::filesystem;

Document columns_document(const data::TableFacts& table) {
  Document document;
  Table& columns = document.table("", {{"", "column", Align::kLeft, 32},
                                       {"", "contents", Align::kLeft},
                                       {"", "distinct"},
                                       {"", "missing"},
                                       {"", "first value", Align::kLeft, 20},
                                       {"", "as target", Align::kLeft}});
  for (const data::ColumnFacts& column : table.columns) {
    const std::string different =
        column.num_distinct == 0
            ? ""
            : fmt::format("{}{}", with_thousands(column.num_distinct),
                          column.num_distinct == data::kMaxDistinct ? "+" : "");
    columns.add({column.name, wizard::kind_text(column), different,
                 with_thousands(column.num_missing), column.first_value,
                 wizard::target_text(column)});
  }
  return document;
}

// Returns the file that is written if none is named: prices.yaml for data/prices.csv.gz; nothing
// for a query or several files, which have no name.
std::string default_output(const std::string& data) {
  const std::string name = fs::path(data).filename().string();
  if (name.empty() || name == "-" || name.find_first_of("*?") != std::string::npos) return "";
  return name.substr(0, name.find('.', 1)) + ".yaml";
}

// The output is checked before the table is read, which may take long.
void check_config_output(const fs::path& output, const std::string& table, bool replace) {
  if (output == kStandardOutput) return;
  std::error_code ignored;
  if (fs::is_directory(output, ignored)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--output: expected a file, got the folder {}", output.string()));
  }
  if (fs::equivalent(output, table, ignored)) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--output: {} is the table itself; choose another name", output.string()));
  }
  if (fs::exists(fs::symlink_status(output, ignored)) && !replace) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format(
            "--output: {} already exists; choose another name, or overwrite it with --force",
            output.string()));
  }
  const fs::path folder = fs::absolute(output).parent_path();
  if (!fs::is_directory(folder, ignored)) {
    throw Error(ErrorKind::kFileSystem,
                fmt::format("{}: the folder {} does not exist; create it first", output.string(),
                            folder.string()));
  }
}

// Lists the columns for users who have not chosen a target.
void list_columns(const std::string& command, const data::TableFacts& table, bool needs_target) {
  print_document(columns_document(table), /*as_json=*/false);
  std::vector<std::string> likely = wizard::likely_targets(table);
  for (std::string& name : likely) name = in_quotes(name);
  const std::string guess =
      likely.empty() ? "" : fmt::format("; likely targets: {}", joined(likely, " or "));
  if (needs_target) {
    throw Error(ErrorKind::kUsage, command + ": expected --target COLUMN, got nothing" + guess);
  }
  log::info("choose the column to predict with --target, and a file with --output" + guess);
}

// Returns the path of the table relative to the folder of the configuration file, as config::load()
// resolves it.
std::string path_from(const fs::path& folder, const std::string& table) {
  const fs::path relative = fs::path(table).lexically_relative(folder.lexically_normal());
  return relative.empty() ? table : relative.string();
}

// If all column names are numbers, the table probably has no header and its first row was taken for
// one.
void warn_about_numeric_names(const data::TableFacts& table) {
  const bool are_numbers =
      std::all_of(table.columns.begin(), table.columns.end(),
                  [](const auto& column) { return parse_double(column.name).has_value(); });
  if (!are_numbers) return;
  log::warning(fmt::format(
      "{}: the first line contains only numbers; expected a header with column names", table.file));
}

void log_table(const data::TableFacts& table) {
  const std::string mark = table.thousands == ' ' ? "blanks" : std::string(1, table.thousands);
  log::info(
      fmt::format("read {} and {} from {}{}{}{}", counted(table.num_rows, "row"),
                  counted(std::ssize(table.columns), "column"), table.file,
                  table.has_lines ? ", delimiter " + data::delimiter_name(table.delimiter) : "",
                  table.decimal == ',' ? ", decimal comma" : "",
                  table.thousands == '\0' ? "" : ", thousands separated by " + mark));
}

void log_ignored(std::span<const wizard::Exception> columns) {
  for (const wizard::Exception& ignored : columns) {
    log::info(fmt::format("dropping column {}: {}", in_quotes(ignored.column), ignored.reason));
  }
}

// Reads the data with the new configuration, and logs which columns are not features.
data::Datasets read_with(wizard::FirstConfig& first) {
  for (const wizard::Exception& id : first.id) {
    log::info(fmt::format("column {} is a row identifier: {}", in_quotes(id.column), id.reason));
  }
  log_ignored(first.ignore);
  const std::size_t num_logged = first.ignore.size();
  data::Datasets data =
      cache::load_once(first.config.data, static_cast<uint64_t>(first.config.seed));
  wizard::add_left_out(first, data.schema);
  log_ignored(std::span(first.ignore).subspan(num_logged));
  first.warnings = data.target_copies;
  for (const std::string& warning : data.warnings) log::warning(warning);
  return data;
}

// Inspects the table, and does so again if it contains texts that stand for missing values.
data::TableFacts inspect(const data::TableSource& source, data::InspectOptions options) {
  data::TableFacts table = data::inspect_table(source, options);
  const std::vector<wizard::MissingCode> codes = wizard::find_missing_codes(table);
  if (codes.empty()) return table;
  for (const wizard::MissingCode& code : codes) {
    log::info(fmt::format("column {}: {} in {} is treated as a missing value (data.missing)",
                          in_quotes(code.column), in_quotes(code.text),
                          counted(code.count, "row")));
    if (std::find(options.missing.begin(), options.missing.end(), code.text) ==
        options.missing.end()) {
      options.missing.push_back(code.text);
    }
  }
  return data::inspect_table(source, options);
}

// Inspects the table again if a class of the target has a name like None, which means "missing" in
// other columns.
data::TableFacts with_missing_class(const data::TableSource& source, const std::string& target,
                                    data::TableFacts table, data::InspectOptions options) {
  const std::string name = wizard::find_missing_class(table, target);
  if (name.empty()) return table;
  log::info(
      fmt::format("column {}: {} is taken for a class, not for a missing value (data.missing)",
                  in_quotes(target), in_quotes(name)));
  options.missing = table.missing;
  std::erase_if(options.missing,
                [&](const std::string& text) { return lower_case(text) == lower_case(name); });
  return data::inspect_table(source, options);
}

// Returns the estimated seconds that an epoch adds to training on this machine's CPU.
double measure_epoch(config::Config config, const data::Datasets& data) {
  constexpr double kOtherWork = 1.2;  // factor for updates, evaluation and checkpoints
  config::complete_recipe(config, data::recipe_facts(data));
  const int64_t num_rows = data.train.size();
  // Members are trained at the same time, each with its part of the CPUs.
  const int64_t at_once = std::min(usable_cpus(), config.members);
  const double step_seconds =
      cpu::measure_step(network::build(config, data.schema),
                        std::min(config.training.batch_size, num_rows), usable_cpus() / at_once);
  return kOtherWork * step_seconds / static_cast<double>(at_once) *
         static_cast<double>(schedule::steps_per_epoch(config.training, num_rows));
}

// Returns the path that the new file states relative to its own folder: that of the table, or the
// folder where a query looks for its files.
const std::string& read_from(const wizard::FirstConfig& first) {
  const config::DataConfig& data = first.config.data;
  return data.query.empty() ? data.path : data.query_folder;
}

// With a random split, a model is also trained on rows that are later than those of the test split.
// Returns the column as the value of data.time; an empty text if there is none.
std::string tell_of_dates(const data::Schema& schema) {
  const data::Column* date = wizard::find_date(schema);
  if (date == nullptr) return "";
  std::string value = config::typed_text(config::find_field("data.time")->access, date->source);
  log::info(fmt::format(
      "{} has dates: if the model will predict later rows, evaluate it on the latest ones, with "
      "data.split=chronological data.time={}; a random split may be too optimistic",
      in_quotes(date->source), shell_word(value)));
  return value;
}

}  // namespace

std::vector<Option> NewConfig::options() {
  return {
      table_option(table_),
      {"--data", &data_, "FILE",
       "Table: a CSV, Parquet, JSON or SQLite file, a folder of such files, or a pattern with * "
       "and ?"},
      query_option(query_),
      {"--target", &target_, "COLUMN", "Column to predict; without it, the columns are listed"},
      {"--task", &task_, "VALUE",
       "classification or regression (default: inferred from the target)",
       config::words(config::find_field("data.task")->access)},
      delimiter_option(format_, "detected"),
      decimal_option(format_, "detected"),
      {"--time", &time_, "TIME",
       purpose_ == Purpose::kTrain
           ? "Time for training, such as 60s, 10m or 2h: what is left after a first model goes "
             "into a search for a better one (default: the first model, in at most 10m)"
           : "Time for training, such as 60s, 10m or 2h, into which the recipe has to fit "
             "(default: 10m)"},
      {"-o,--output", &output_, "FILE",
       "YAML file to write; - writes to standard output (default: prices.yaml for prices.csv)"},
      {"--force", &force_, "", "Overwrite an existing output file"}};
}

void NewConfig::check(const CommonOptions& common, Problems& problems) {
  take_table(table_, data_, problems);
  if (data_.empty() && query_.empty()) {
    problems.push_back(command_ + ": expected --data FILE.csv, got nothing");
  }
  check_data(data_, query_, problems);
  if (data_ == "-") {
    problems.push_back(command_ +
                       ": expected a file whose path the configuration can contain, got --data -; "
                       "save the table to a file");
  }
  if (output_ == kStandardOutput && purpose_ == Purpose::kTrain) {
    problems.emplace_back("--output: expected a file, got standard output");
  }
  if (output_.empty() && target_) output_ = default_output(data_);
  if (output_.empty() && target_) {
    problems.push_back(command_ +
                       ": expected --output FILE.yaml, or - for standard output, got nothing");
  }
  parse_time(time_, time_limit_, problems);
  refuse_resume(command_, common, problems);
  if (!common.config_files.empty()) {
    problems.push_back("--config is not supported by " + command_ +
                       "; --output names the new configuration");
  }
}

std::optional<std::string> NewConfig::write() {
  const config::DataConfig flags = checked_flags();
  if (target_) check_config_output(output_, data_, force_);
  data::InspectOptions options;
  options.delimiter = flags.delimiter;
  if (!format_.decimal.empty()) options.decimal = flags.decimal;
  const data::TableSource source = {.path = data_, .query = query_};
  data::TableFacts table = inspect(source, options);
  warn_about_numeric_names(table);
  if (target_) table = with_missing_class(source, *target_, std::move(table), options);
  for (const std::string& line : data::describe_files(data_)) log::info(line);
  if (!target_) {
    list_columns(command_, table, !output_.empty() || purpose_ == Purpose::kTrain);
    return std::nullopt;
  }
  return write_for(table, flags.task);
}

config::DataConfig NewConfig::checked_flags() const {
  const bool is_query = !query_.empty();
  std::vector<config::Override> overrides = {
      {"data.source", is_query ? "query" : "csv", command_},
      {is_query ? "data.query" : "data.path", is_query ? query_ : data_,
       is_query ? "--query" : "--data"},
      {"data.target", "\"?\"", "--target"}};
  add_overrides(format_, overrides);
  if (!task_.empty()) overrides.push_back({"data.task", task_, "--task"});
  return config::load({}, overrides).config.data;
}

namespace {

bool has_only_numbers(const data::Schema& schema) {
  return std::all_of(schema.columns.begin(), schema.columns.end(), [](const auto& column) {
    return column.kind == data::ColumnKind::kNumeric || data::num_features(column) == 0;
  });
}

// A time of at least so many seconds, as --time takes it: 25s, 3m.
std::string round_time(double seconds) {
  constexpr double kMinute = 60;
  return seconds <= kMinute ? fmt::format("{:.0f}s", std::ceil(seconds))
                            : fmt::format("{:.0f}m", std::ceil(seconds / kMinute));
}

}  // namespace

std::string NewConfig::write_for(const data::TableFacts& table, config::Task task) {
  wizard::FirstConfig first = wizard::make_first_config(table, *target_, task);
  log_table(table);
  const data::Datasets data = read_with(first);
  dates_ = tell_of_dates(data.schema);
  // `fit` trains another model, which is tested on later rows.
  const double share = purpose_ == Purpose::kTrain && !dates_.empty() ? 0.8 : 1;
  wizard::choose_training(
      first,
      {.num_rows = data.train.size(),
       .num_features = data.schema.num_features(),
       .has_only_numbers = has_only_numbers(data.schema),
       .linear_r2 = [&] { return wizard::linear_r2(data); }},
      [&](const config::Config& config) { return measure_epoch(config, data); },
      share * time_limit_);
  constexpr double kSeveral = 3;  // trainings, below which a search finds little
  if (!time_.empty() && first.config.members > 1 &&
      kSeveral * first.training_seconds <= share * time_limit_) {
    search_seconds_ = time_limit_;
  }
  log::info(fmt::format(
      "recipe {}: training{} takes about {} on this machine", config::to_text(first.config.recipe),
      first.config.members > 1 ? fmt::format(" {} models", first.config.members) : "",
      human_duration(first.training_seconds / share)));
  if (purpose_ == Purpose::kEdit && first.config.members > 1) {  // measured in docs/quality.md
    log::info(fmt::format("`trainer search --time {}`, ten times as long, has some 6 % less error",
                          round_time(10 * first.training_seconds)));
  }
  const bool to_output = output_ == kStandardOutput;
  const std::string name = to_output ? "FILE.yaml" : shell_word(output_);
  const fs::path folder = to_output ? fs::current_path() : fs::absolute(output_).parent_path();
  const std::string text = wizard::first_config_text(first, table, data.schema, name,
                                                     path_from(folder, read_from(first)));
  config::load({{name, text, folder}}, {});  // an invalid configuration must not be written
  if (to_output) {
    print_data(text);
  } else {
    write_file_atomically(output_, text);
  }
  return output_;
}

}  // namespace trainer::cli
