// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/wizard/first_config_text.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/text/enum_names.h"
#include "trainer/base/text/format.h"
#include "trainer/config/fields.h"
#include "trainer/config/yaml.h"
#include "trainer/workflows/wizard/column_kinds.h"

namespace trainer::wizard {
namespace {

using data::ColumnFacts;
using data::TableFacts;

constexpr std::size_t kMaxShown = 8;     // names or classes in one comment
constexpr std::size_t kLineWidth = 100;  // longer comments are wrapped

/// Writes YAML line by line; a section begins when the first of its keys is written.
class Writer {
 public:
  explicit Writer(const config::Config& config) : config_(config) {}

  /// Writes a comment, wrapped to kLineWidth.
  void comment(std::string_view text) {
    const std::string begin = sections_.indent() + "#";
    const std::size_t width = kLineWidth - begin.size() - 1;
    while (text.size() > width) {
      const std::size_t space = text.rfind(' ', width);
      if (space == std::string_view::npos || space == 0) break;
      text_ += fmt::format("{} {}\n", begin, text.substr(0, space));
      text.remove_prefix(space + 1);
    }
    text_ += fmt::format("{}{}{}\n", begin, text.empty() ? "" : " ", text);
  }

  void blank() { text_ += '\n'; }

  void key(const std::string& path, const std::string& comment = "") {
    line(path, config::value_text(path, config_), comment);
  }

  void list(const std::string& path, const std::vector<Exception>& exceptions) {
    if (exceptions.empty()) return;
    line(path, "");
    for (const Exception& exception : exceptions) {
      text_ += fmt::format("{}  - {}  # {}\n", sections_.indent(),
                           config::yaml_text(exception.column), exception.reason);
    }
  }

  /// Writes a key with a `value` that is already YAML.
  void line(const std::string& path, const std::string& value, const std::string& comment = "") {
    text_ += sections_.enter(path);
    text_ += fmt::format("{}{}:{}{}{}\n", sections_.indent(), path.substr(path.rfind('.') + 1),
                         value.empty() ? "" : " ", value, comment.empty() ? "" : "  # " + comment);
  }

  std::string take() { return std::move(text_); }

 private:
  const config::Config& config_;
  config::YamlSections sections_;
  std::string text_;
};

// A list of at most kMaxShown items: the last one counts the words that are left out.
std::string shown(std::vector<std::string> words) {
  if (words.size() > kMaxShown) {
    const std::size_t more = words.size() - (kMaxShown - 1);
    words.resize(kMaxShown - 1);
    words.push_back(fmt::format("{} more", more));
  }
  return joined(words);
}

const ColumnFacts& find_column(const TableFacts& table, const std::string& name) {
  return *find_by_name(table.columns, name);
}

// A percentage that never rounds to 0 % or 100 %, which would mean none or all.
std::string share_text(double percent) {
  const bool is_extreme = percent < 0.5 || percent >= 99.5;
  return is_extreme ? fmt::format("{:.1f} %", std::clamp(percent, 0.1, 99.9))
                    : fmt::format("{:.0f} %", percent);
}

std::string classes_text(const ColumnFacts& target) {
  auto labels = target.labels;
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  if (labels.size() > kMaxShown) {
    return fmt::format("{} classes with {} to {}", labels.size(),
                       with_thousands(labels.back().second), counted(labels.front().second, "row"));
  }
  std::vector<std::string> words;
  words.reserve(labels.size());
  for (const auto& [label, count] : labels) {
    const double share =
        100 * static_cast<double>(count) / static_cast<double>(target.num_values());
    words.push_back(fmt::format("{} ({})", in_quotes(label), share_text(share)));
  }
  return fmt::format("{} classes: {}", labels.size(), joined(words));
}

void write_classes(Writer& writer, const ColumnFacts& target) {
  writer.comment(classes_text(target) + ".");
  const auto [least, most] =
      std::minmax_element(target.labels.begin(), target.labels.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
  if (least == target.labels.end()) return;
  constexpr int64_t kTooFew = 10;
  if (least->second < kTooFew) {
    writer.comment(fmt::format("Too few rows to learn {}, which has {}.", in_quotes(least->first),
                               counted(least->second, "row")));
  }
  if (3 * least->second < most->second) {
    writer.comment("To make all classes contribute equally: class_weights: balanced");
  }
}

void write_target(Writer& writer, const ColumnFacts& target, const FirstConfig& first,
                  const std::vector<std::string>& labels) {
  if (first.config.data.task == config::Task::kRegression) {
    writer.comment(
        fmt::format("Numbers from {} to {}.", shortest(target.min), shortest(target.max)));
  } else {
    write_classes(writer, target);
  }
  writer.line("data.target", config::yaml_text(target.name));
  writer.key("data.task", first.task_reason);
  if (labels.size() == 2) {
    writer.comment(
        fmt::format("{} is the positive class, for ROC, binary F1 and thresholds; for the "
                    "other one: positive: {}",
                    in_quotes(labels[1]), config::yaml_text(labels[0])));
  }
  if (target.num_missing == 0) return;
  std::string written;
  for (const auto& [text, count] : target.missing_texts) {
    written += fmt::format("{}{} in {}", written.empty() ? " (" : ", ", in_quotes(text),
                           counted(count, "row"));
  }
  if (!written.empty()) written += "; if that is a class, remove it from data.missing)";
  writer.comment(fmt::format("{} {} no value{}.", counted(target.num_missing, "row"),
                             target.num_missing == 1 ? "has" : "have", written));
  writer.key("data.drop_rows_without_target");
}

// Writes data.missing with a comment if it differs from the default list.
void write_missing(Writer& writer, const config::Config& config) {
  const std::vector<std::string> usual = config::default_missing_texts();
  const std::vector<std::string>& missing = config.data.missing;
  if (missing == usual) return;
  const auto lacks = [](const std::vector<std::string>& texts, const std::string& text) {
    return std::find(texts.begin(), texts.end(), text) == texts.end();
  };
  std::vector<std::string> classes;
  for (const std::string& text : usual) {
    if (lacks(missing, text)) classes.push_back(in_quotes(text));
  }
  if (!classes.empty()) {
    writer.comment(fmt::format(
        "Missing values: the default list without {}, a class of the target.", joined(classes)));
  }
  const bool has_codes = std::any_of(missing.begin(), missing.end(),
                                     [&](const std::string& text) { return lacks(usual, text); });
  if (has_codes) {
    writer.comment(
        "Missing values: the default list, and codes found in columns of numbers or dates (the");
    writer.comment("last entries). Remove entries that are real values.");
  }
  writer.key("data.missing");
}

/// What the comments in the file say about the columns that become features.
struct Features {
  int64_t num_numeric = 0;
  std::vector<std::string> categorical;  // names, each with its number of distinct values
  std::vector<std::string> dates;        // columns of the file, in quotes
  std::vector<std::string> missing;      // names, each with its number of missing cells
  std::vector<std::string> few;          // numeric columns that may be categories
  std::string group;                     // a column that identifies groups of rows; or empty
};

Features describe_features(const TableFacts& table, const data::Schema& schema) {
  Features features;
  const auto with_count = [](const std::string& name, int64_t count) {
    return fmt::format("{} ({})", in_quotes(name), with_thousands(count));
  };
  std::unordered_map<std::string_view, const ColumnFacts*> facts_of;
  for (const ColumnFacts& column : table.columns) facts_of.emplace(column.name, &column);
  for (const data::Column& column : schema.columns) {
    if (data::num_features(column) == 0) continue;
    const std::string& name = data::source_of(column);
    const ColumnFacts& facts = *facts_of.at(name);
    const bool is_date = !column.source.empty();
    if (is_date && !features.dates.empty() && features.dates.back() == in_quotes(name)) continue;
    if (facts.num_missing > 0) features.missing.push_back(with_count(name, facts.num_missing));
    if (is_date) {
      features.dates.push_back(in_quotes(name));
      continue;
    }
    if (column.kind == data::ColumnKind::kCategorical) {
      features.categorical.push_back(with_count(column.name, facts.num_distinct));
      continue;
    }
    ++features.num_numeric;
    if (features.group.empty() && groups_rows(facts)) features.group = column.name;
    const bool is_few = facts.num_distinct > 2 && facts.num_distinct <= kFewValues;
    if (facts.is_whole && is_few) features.few.push_back(column.name);
  }
  return features;
}

void write_features(Writer& writer, const TableFacts& table, const data::Schema& schema) {
  const Features features = describe_features(table, schema);
  std::string kinds = fmt::format("{}: {}", counted(schema.num_features(), "feature"),
                                  counted(features.num_numeric, "numeric column"));
  if (!features.categorical.empty()) {
    kinds += fmt::format(", {} categorical: {}", features.categorical.size(),
                         shown(features.categorical));
  }
  if (!features.dates.empty()) {
    kinds +=
        fmt::format(", {} of dates (data.dates): {}", features.dates.size(), shown(features.dates));
  }
  writer.comment(kinds + ".");
  if (!features.missing.empty()) {
    writer.comment(
        fmt::format("Columns with missing values: {}; data.fill sets how numbers are imputed.",
                    shown(features.missing)));
  }
  if (!features.group.empty()) {
    writer.comment(
        fmt::format("If {} identifies a group (a customer), use it as group, not as a feature:",
                    in_quotes(features.group)));
    writer.comment("group: " + config::yaml_text(features.group) +
                   "  # keeps rows of a group in the same split");
  }
  if (const data::Column* date = find_date(schema); date != nullptr) {
    writer.comment(
        "If the model will predict later rows, evaluate it on the latest ones; the dates are no "
        "feature then:");
    writer.comment("split: chronological");
    writer.comment("time: " + config::yaml_text(date->source));
  }
  // In a table with many numeric columns, those with few values are more likely counts or pixels.
  constexpr int64_t kManyColumns = 20;
  if (features.few.empty() || features.num_numeric > kManyColumns) return;
  writer.comment(
      "Integer columns with few distinct values; if they are categories and not quantities:");
  config::Config other;
  other.data.categorical = features.few;
  writer.comment("categorical: " + config::value_text("data.categorical", other));
}

void write_recipe(Writer& writer, const config::Config& config) {
  const bool has_classes = config.data.task == config::Task::kClassification;
  writer.comment(
      config.recipe == config::Recipe::kLinear
          ? "A linear model, for few rows of many columns. It sets the defaults of other keys,"
          : "RealMLP, a strong recipe for tables. It sets the defaults of other keys,");
  writer.comment(
      fmt::format("which --print-config shows; each can be set below, such as training: "
                  "{{best_metric: {}}}.",
                  has_classes ? "f1" : "mae"));
  writer.key("recipe");
  if (config.members > 1) {
    writer.key("members", fmt::format("models that learn from {}/{} of the rows each and predict "
                                      "together; 1 for a single one",
                                      config.members - 1, config.members));
  }
  if (!config.member_recipes.empty()) writer.key("member_recipes", "which they take in turn");
  writer.blank();
}

// Writes how the rows are divided, with the reasons.
void write_splits(Writer& writer, const config::Config& config) {
  if (config.members == 1) writer.key("data.validation_fraction");
  writer.key("data.test_fraction",
             config.data.test_fraction > 0 ? ""
             : config.members > 1 ? "none: each row is predicted by the member that has not seen it"
                                  : "none: the validation split gives the metrics");
}

// Writes the sizes of model and training that choose_training() chose for the plain recipe.
void write_plain(Writer& writer, const FirstConfig& first) {
  writer.key("model.hidden_sizes");
  writer.blank();
  writer.key("training.max_seconds", first.time_reason);
  writer.key("training.epochs");
  writer.key("training.batch_size");
  writer.key("training.learning_rate", "trainer config schedule previews the schedule");
  const bool has_classes = first.config.data.task == config::Task::kClassification;
  writer.key("training.best_metric", has_classes ? "or accuracy, f1, auroc" : "or mae, rmse, r2");
  writer.key("training.schedule.name");
  writer.key("training.early_stopping.patience", "epochs without improvement");
}

}  // namespace

const data::Column* find_date(const data::Schema& schema) {
  const auto found = std::find_if(schema.columns.begin(), schema.columns.end(),
                                  [](const data::Column& one) { return !one.source.empty(); });
  return found == schema.columns.end() ? nullptr : &*found;
}

std::string first_config_text(const FirstConfig& first, const TableFacts& table,
                              const data::Schema& schema, const std::string& name,
                              const std::string& path) {
  config::Config config = first.config;
  (table.query.empty() ? config.data.path : config.data.query_folder) = path;
  Writer writer(config);
  const bool has_recipe = config.recipe != config::Recipe::kPlain;
  const bool is_alone = config.recipe == config::Recipe::kRealmlp && config.member_recipes.empty();
  const std::string table_name =
      table.query.empty() ? in_quotes(std::filesystem::path(table.file).filename().string())
                          : "a query";
  writer.comment(fmt::format("Written by `trainer init` from {}: {}, {}. Edit as needed.",
                             table_name, counted(table.num_rows, "row"),
                             counted(static_cast<int64_t>(table.columns.size()), "column")));
  writer.comment("");
  writer.comment("  trainer --config " + name);
  writer.comment("  trainer search --config " + name + (is_alone ? " --recipes realmlp,tabm" : "") +
                 " --time 10m   (more accurate)");
  writer.comment("");
  writer.comment("All other keys have their defaults; `trainer config reference` lists them.");
  writer.blank();
  if (has_recipe) write_recipe(writer, config);
  if (!config.tag.empty()) {
    writer.key("tag", "suffix of the run folder names");
    writer.blank();
  }
  writer.key("data.source");
  if (table.query.empty()) {
    writer.key("data.path", "relative to the folder of this file");
  } else {
    writer.key("data.query");
    if (path != ".") writer.key("data.query_folder", "where relative paths in the query start");
  }
  if (config.data.delimiter != "auto") writer.key("data.delimiter");
  if (config.data.decimal != ".") writer.key("data.decimal");
  if (config.data.thousands != "none") writer.key("data.thousands");
  write_missing(writer, config);
  write_target(writer, find_column(table, config.data.target.front()), first, schema.labels);
  writer.list("data.id", first.id);
  for (const std::string& warning : first.warnings) writer.comment("Warning: " + warning);
  writer.list("data.ignore", first.ignore);
  writer.list("data.categorical", first.categorical);
  write_features(writer, table, schema);
  write_splits(writer, config);
  writer.blank();
  if (has_recipe) {
    writer.key("training.epochs", first.time_reason);
  } else {
    write_plain(writer, first);
  }
  return writer.take();
}

}  // namespace trainer::wizard
