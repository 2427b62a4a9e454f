// SPDX-License-Identifier: Apache-2.0
#include "cli/init_command.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/config/load.h"
#include "trainer/core/atomic_file.h"
#include "trainer/core/error.h"
#include "trainer/core/log.h"
#include "trainer/core/text.h"
#include "trainer/data/dataset.h"
#include "trainer/data/inspect.h"
#include "trainer/plan/first_config.h"

namespace trainer::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStandardOutput = "-";

// Before the table is read, which may take long.
void check_output(const Arguments& arguments) {
  const fs::path& output = arguments.output;
  if (output == kStandardOutput) return;
  std::error_code ignored;
  if (fs::is_directory(output, ignored)) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--output: expected a file, got the folder {}", output.string()));
  }
  if (fs::exists(fs::symlink_status(output, ignored)) && !arguments.force) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--output: {} is there already; choose another name, or replace it "
                            "with --force",
                            output.string()));
  }
  const fs::path folder = fs::absolute(output).parent_path();
  if (!fs::is_directory(folder, ignored)) {
    throw Error(ErrorKind::kFileSystem, fmt::format("{}: there is no folder {}; make it first",
                                                    output.string(), folder.string()));
  }
}

// In the words of a table: at most `width` columns, without line breaks.
std::string cell(const std::string& text, std::size_t width) {
  std::string plain = in_quotes(text);
  plain = plain.substr(1, plain.size() - 2);
  if (plain.size() <= width) return plain;
  std::size_t end = width - 3;
  while (end > 0 && (static_cast<unsigned char>(plain[end]) & 0xC0U) == 0x80U) --end;
  return plain.substr(0, end) + "...";
}

std::string columns_text(const data::TableFacts& table) {
  constexpr std::size_t kNameWidth = 32;
  constexpr std::size_t kExampleWidth = 20;
  std::size_t width = 6;
  for (const data::ColumnFacts& column : table.columns) {
    width = std::max(width, cell(column.name, kNameWidth).size());
  }
  std::string text = fmt::format("{:<{}}  {:<16}  {:>9}  {:>9}  {:<20}  {}\n", "column", width,
                                 "holds", "different", "missing", "the first", "as target");
  for (const data::ColumnFacts& column : table.columns) {
    const std::string different =
        column.num_different == 0
            ? ""
            : fmt::format("{}{}", with_thousands(column.num_different),
                          column.num_different == data::kMaxDifferent ? "+" : "");
    std::string line =
        fmt::format("{:<{}}  {:<16}  {:>9}  {:>9}  {:<20}  {}", cell(column.name, kNameWidth),
                    width, plan::kind_text(column), different, with_thousands(column.num_missing),
                    cell(column.first_value, kExampleWidth), plan::target_text(column));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

[[noreturn]] void ask_for_target(const data::TableFacts& table) {
  fmt::print("{}", columns_text(table));
  std::vector<std::string> likely = plan::likely_targets(table);
  for (std::string& name : likely) name = in_quotes(name);
  throw Error(
      ErrorKind::kUsage,
      fmt::format("init: expected --target COLUMN, got nothing{}",
                  likely.empty() ? "" : fmt::format("; it may be {}", joined(likely, " or "))));
}

// How the file says where the table is: config::load() undoes that in the same way.
std::string path_from(const fs::path& folder, const std::string& table) {
  const fs::path relative = fs::path(table).lexically_relative(folder.lexically_normal());
  return relative.empty() ? table : relative.string();
}

// As it can be typed.
std::string shell_word(const std::string& text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/' ||
           c == '-';
  });
  if (is_plain) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

// A table without a header would lose its first row and have numbers for names.
void warn_of_numbers_as_names(const data::TableFacts& table) {
  const bool are_numbers =
      std::all_of(table.columns.begin(), table.columns.end(),
                  [](const auto& column) { return parse_double(column.name).has_value(); });
  if (!are_numbers) return;
  log::warning(
      fmt::format("{}: the first line holds only numbers; a header with the names of the "
                  "columns is expected there",
                  table.file));
}

void tell_table(const data::TableFacts& table) {
  const char* delimiter = table.delimiter == ','   ? "comma"
                          : table.delimiter == ';' ? "semicolon"
                                                   : "tab";
  log::info(fmt::format("read {} rows and {} columns of {}, {} between them",
                        with_thousands(table.num_rows), table.columns.size(), table.file,
                        delimiter));
}

void tell_left_out(std::span<const plan::Exception> columns) {
  for (const plan::Exception& ignored : columns) {
    log::info(fmt::format("column {} is left out: {}", in_quotes(ignored.column), ignored.reason));
  }
}

// Reads the data with it and says on the way what is no feature: that explains what may be wrong.
data::Datasets read_with(plan::FirstConfig& first) {
  for (const plan::Exception& id : first.id) {
    log::info(fmt::format("column {} names rows: {}", in_quotes(id.column), id.reason));
  }
  tell_left_out(first.ignore);
  const std::size_t num_told = first.ignore.size();
  data::Datasets data =
      data::load_datasets(first.config.data, static_cast<uint64_t>(first.config.seed));
  plan::add_left_out(first, data.schema);
  tell_left_out(std::span(first.ignore).subspan(num_told));
  for (const std::string& note : data.target_copies) log::info(note);
  for (const std::string& warning : data.warnings) log::warning(warning);
  return data;
}

}  // namespace

int init_command(const Arguments& arguments) {
  check_output(arguments);
  if (arguments.verbosity == Verbosity::kQuiet) log::set_console_level(log::Level::kWarning);
  const data::TableFacts table = data::inspect_csv(arguments.data);
  warn_of_numbers_as_names(table);
  if (!arguments.target) ask_for_target(table);
  plan::FirstConfig first = plan::make_first_config(table, *arguments.target);
  tell_table(table);
  const data::Datasets data = read_with(first);
  const bool to_output = arguments.output == kStandardOutput;
  const std::string name = to_output ? "FILE.yaml" : shell_word(arguments.output);
  const fs::path folder =
      to_output ? fs::current_path() : fs::absolute(arguments.output).parent_path();
  const std::string text = plan::first_config_text(first, table, data.schema, name,
                                                   path_from(folder, first.config.data.path));
  config::load({{name, text, folder}}, {});  // what cannot be read must not be written
  if (to_output) {
    fmt::print("{}", text);
    return 0;
  }
  write_file_atomically(arguments.output, text);
  fmt::print("wrote {0}\n\n  trainer config schedule --config {0}\n  trainer --config {0}\n", name);
  return 0;
}

}  // namespace trainer::cli
