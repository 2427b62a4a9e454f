// SPDX-License-Identifier: Apache-2.0
// `trainer explain RUN_OR_CHECKPOINT`: which columns a model depends on, how its predictions depend
// on them, and with --row what each column contributes to one prediction.
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trainer/apply/explain/contributions.h"
#include "trainer/apply/explain/explain_document.h"
#include "trainer/apply/explain/explained_rows.h"
#include "trainer/apply/explain/importance.h"
#include "trainer/apply/explain/partial_dependence.h"
#include "trainer/apply/model.h"
#include "trainer/apply/source_cells.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/suggest.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/config/fields.h"

#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/model_options.h"
#include "cli/print_document.h"

namespace trainer::cli {
namespace {

using explain::ColumnGroup;

std::string rows_text(const std::string& data, const explain::ExplainedRows& rows) {
  const std::string count = counted(rows.rows.size(), "row");
  if (rows.rows.size() == rows.num_available) return fmt::format("{}: {}", data, count);
  return fmt::format("{}: {} chosen from {} (--rows)", data, count,
                     with_thousands(rows.num_available));
}

class ExplainCommand : public Command {
 public:
  std::vector<Option> options() override {
    return {
        model_option(model_),
        {"--data", &data_, "FILE",
         "Table with the targets; - reads standard input (default: the run's own test split)"},
        query_option(query_),
        delimiter_option(format_, "as in the run"),
        decimal_option(format_, "as in the run"),
        {"--targets,--labels", &targets_, "FILE",
         "Labels or targets of --data, if that is an IDX file or a .npy array"},
        {"--metric", &metric_text_, "METRIC",
         "Metric that columns are important for (default: training.best_metric of the run)",
         config::words(config::find_field("training.best_metric")->access)},
        {"--repeats", &repeats_text_, "N", "Shuffles of each column (5)"},
        {"--rows", &rows_text_, "N", "Rows that are used at most (20000)"},
        {"--top", &top_text_, "N", "Columns whose effect is shown: the most important (3)"},
        {"--column", &columns_, "COLUMN", "Show the effect of this column instead"},
        {"--row", &row_text_, "N",
         "Explain the prediction for one row: its line in a CSV file, else its number; needs no "
         "target"},
        {"--json", &json_, "", "Print JSON"}};
  }

  void check(const CommonOptions& common, Problems& problems) override {
    check_model("explain", model_, problems);
    check_data(data_, query_, problems);
    if (data_.empty() && !targets_.empty()) {
      problems.emplace_back("--targets requires --data FILE");
    }
    parse_count("--repeats", repeats_text_, repeats_, problems);
    parse_count("--rows", rows_text_, max_rows_, problems, 2);
    parse_count("--top", top_text_, top_, problems, 0);
    parse_count("--row", row_text_, row_, problems);
    check_metric(problems);
    if (!row_text_.empty()) refuse_with_row(problems);
    if (!columns_.empty() && !top_text_.empty()) {
      problems.emplace_back("--top: conflicts with --column; remove one of them");
    }
    check_overrides("explain", common, {"threads", "seed", "precision"}, problems);
  }

  int run(const CommonOptions& common) override {
    apply_quiet(common);
    apply::Model model = load_model(model_);
    const config::Config config = config_for(model, common, format_);
    apply_precision(config, model);
    const std::vector<ColumnGroup> groups = explain::column_groups(model.schema);
    print_document(row_ > 0 ? explain_one_row(model, config, groups)
                            : explain_all_columns(model, config, groups),
                   json_);
    return 0;
  }

 private:
  void check_metric(Problems& problems) {
    if (metric_text_.empty()) return;
    metric_ = from_text<config::BestMetric>(metric_text_);
    if (metric_) return;
    problems.push_back(fmt::format("--metric: expected {}, got {}",
                                   joined(enum_names<config::BestMetric>(), " or "),
                                   in_quotes(metric_text_)));
  }

  void refuse_with_row(Problems& problems) const {
    const auto refuse = [&](const char* option, bool is_given) {
      if (is_given) problems.push_back(fmt::format("{}: has no effect with --row", option));
    };
    refuse("--targets", !targets_.empty());
    refuse("--metric", !metric_text_.empty());
    refuse("--repeats", !repeats_text_.empty());
    refuse("--rows", !rows_text_.empty());
    refuse("--top", !top_text_.empty());
    refuse("--column", !columns_.empty());
  }

  bool is_own() const { return data_.empty() && query_.empty(); }

  data::TableSource source(const apply::Model& model, const config::Config& config) const {
    return table_source(config.data, model.schema, data_, query_);
  }

  Document explain_one_row(const apply::Model& model, const config::Config& config,
                           const std::vector<ColumnGroup>& groups) const {
    const apply::FoundRow row = is_own() ? apply::find_own_row(model, row_)
                                         : apply::find_row(model, source(model, config), row_);
    explain::Contributions found =
        explain::explain_row(model, groups, row.features, thread_count(config));
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (const std::string* cell = row.cells.find(row_, groups[i].name)) found.cells[i] = *cell;
    }
    Document document;
    document.add("checkpoint", "model", {model.file.string(), model_text(model)});
    document.add("row", "row", row.name);
    document.append(explain::contributions_document(found, groups));
    return document;
  }

  Document explain_all_columns(const apply::Model& model, const config::Config& config,
                               const std::vector<ColumnGroup>& groups) const {
    const std::vector<std::size_t> named = named_columns(model, groups);
    const explain::ExplainedRows rows = read_rows(model, config);
    show_notes(rows.notes);
    const explain::Importance importance = explain::permutation_importance(
        model, rows, groups,
        {.metric = metric_.value_or(model.config().training.best_metric),
         .repeats = repeats_,
         .seed = static_cast<uint64_t>(config.seed),
         .num_threads = thread_count(config)});
    std::vector<explain::PartialDependence> effects;
    for (const std::size_t group : columns_.empty() ? top_columns(importance) : named) {
      for (auto& one :
           explain::partial_dependence(model, rows, groups[group], thread_count(config))) {
        effects.push_back(std::move(one));
      }
    }
    const data::TableSource data{.path = data_, .query = query_};
    Document document =
        model_document(model, data, rows.split, rows_text(data_text(data, rows.split), rows));
    document.data("rows_available", rows.num_available);
    document.append(explain::importance_document(importance, groups));
    document.append(explain::dependence_document(effects, rows.schema));
    return document;
  }

  explain::ExplainedRows read_rows(const apply::Model& model, const config::Config& config) const {
    const explain::RowLimit limit{max_rows_, static_cast<uint64_t>(config.seed)};
    if (is_own()) return explain::choose_rows(apply::own_split(model), limit);
    return explain::read_rows(model, {.data = source(model, config), .targets = targets_}, limit);
  }

  std::vector<std::size_t> named_columns(const apply::Model& model,
                                         const std::vector<ColumnGroup>& groups) const {
    std::vector<std::size_t> found;
    for (const std::string& name : columns_) {
      if (const auto group = explain::find_group(groups, name)) {
        found.push_back(*group);
        continue;
      }
      std::vector<std::string> names;
      names.reserve(groups.size());
      for (const ColumnGroup& group : groups) names.push_back(group.name);
      const auto nearest = nearest_word(name, names);
      throw Error(
          ErrorKind::kUsage,
          fmt::format("--column: {} has no feature {}; {}", model.file.string(), in_quotes(name),
                      nearest ? fmt::format("did you mean {}?", in_quotes(*nearest))
                              : "`trainer inspect` lists the columns"));
    }
    return found;
  }

  std::vector<std::size_t> top_columns(const explain::Importance& importance) const {
    std::vector<std::size_t> found;
    for (const explain::ColumnImportance& column : importance.columns) {
      if (std::ssize(found) < top_) found.push_back(column.group);
    }
    return found;
  }

  std::string model_;
  std::string data_;
  std::string query_;
  FormatOptions format_;
  std::string targets_;
  std::string metric_text_;
  std::optional<config::BestMetric> metric_;
  std::string repeats_text_;
  int64_t repeats_ = 5;
  std::string rows_text_;
  int64_t max_rows_ = 20'000;
  std::string top_text_;
  int64_t top_ = 3;
  std::vector<std::string> columns_;
  std::string row_text_;
  int64_t row_ = 0;  // counts from 1; 0: not given
};

}  // namespace

std::unique_ptr<Command> make_explain_command() { return std::make_unique<ExplainCommand>(); }

}  // namespace trainer::cli
