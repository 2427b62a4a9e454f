// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/out_of_fold.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/evaluate.h"
#include "trainer/apply/model.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/table/dataset.h"
#include "trainer/table/source/table_reader.h"
#include "trainer/table/source/table_source.h"

#include "apply/output.h"
#include "apply/prediction_text.h"

namespace trainer::apply {
namespace {

using Names = std::vector<std::string>;

constexpr char kDelimiter = ',';

bool is_table(const Model& model) { return config::is_table(model.config().data.source); }

/// The names of the columns before the predictions: those of the ids, and what follows them.
Names names_behind(Names names, const Model& model) {
  names.insert(names.end(),
               {data::has_lines(model.config().data) ? "line" : "row", "fold", "repeat"});
  const Names& targets = model.schema.target_names;
  if (targets.size() == 1) {
    names.emplace_back("target");
  } else {
    for (const std::string& target : targets) names.push_back("target_" + target);
  }
  return names;
}

/// The SQL types of the columns of names_behind() in a Parquet file.
Names types_behind(std::size_t num_ids, const Model& model) {
  Names types(num_ids, "VARCHAR");
  types.insert(types.end(), {"BIGINT", "BIGINT", "BIGINT"});
  const bool has_labels = model.schema.task == config::Task::kClassification;
  types.resize(types.size() + model.schema.target_names.size(), has_labels ? "VARCHAR" : "DOUBLE");
  return types;
}

/// The cells of the id columns of a table, by the line of their row.
class Ids {
 public:
  explicit Ids(const Model& model) {
    if (!is_table(model)) return;
    std::vector<data::Column> columns;
    for (const data::Column& column : model.schema.columns) {
      if (column.kind == data::ColumnKind::kId && !is_taken(model, column.name)) {
        columns.push_back(column);
      }
    }
    if (columns.empty()) return;
    const config::DataConfig& data = model.config().data;
    data::TableReader pieces(
        data::training_source(data),
        {.columns = columns, .targets = {}, .ids = data::TrainedColumns::Ids::kKept});
    names_ = pieces.id_names();
    constexpr int64_t kRowsAtOnce = 4096;
    data::Table table;
    while (pieces.next(table, kRowsAtOnce)) {
      for (std::size_t row = 0; row < table.lines.size(); ++row) {
        first_of_line_.emplace(table.lines[row], cells_.size() + row * names_.size());
      }
      cells_.insert(cells_.end(), std::make_move_iterator(table.ids.begin()),
                    std::make_move_iterator(table.ids.end()));
    }
  }

  const Names& names() const { return names_; }

  void add(int64_t line, Names& cells) const {
    if (names_.empty()) return;
    const std::size_t first = first_of_line_.at(line);
    for (std::size_t i = 0; i < names_.size(); ++i) cells.push_back(cells_[first + i]);
  }

 private:
  static bool is_taken(const Model& model, const std::string& name) {
    const Names all = PredictionText(model, names_behind({}, model), kDelimiter).names();
    return std::find(all.begin(), all.end(), name) != all.end();
  }

  Names names_;
  Names cells_;
  std::unordered_map<int64_t, std::size_t> first_of_line_;
};

void add_target(const Model& model, const data::Dataset& rows, std::span<const double> values,
                std::size_t row, Names& cells) {
  if (model.schema.task == config::Task::kClassification) {
    cells.push_back(model.schema.labels[static_cast<std::size_t>(rows.classes[row])]);
    return;
  }
  const auto num_targets = static_cast<std::size_t>(model.schema.num_targets());
  for (std::size_t i = 0; i < num_targets; ++i) {
    cells.push_back(fmt::format("{}", values[row * num_targets + i]));
  }
}

/// A line of the output, and the keys by which lines are sorted.
struct Line {
  int64_t repeat = 1;
  int64_t source_line = 0;
  std::string text;
};

void add_lines(const FoldRun& run, const Model& model, const Ids& ids, int64_t num_threads,
               std::vector<Line>& lines) {
  const SplitOutputs found = predict_own_split(model, num_threads);
  const data::Dataset& rows = found.rows;
  const std::vector<double> values = data::true_values(model.schema, rows);
  const PredictionText text(model, names_behind(ids.names(), model), kDelimiter);
  const auto width = static_cast<std::size_t>(model.num_outputs());
  for (std::size_t row = 0; row < rows.source_lines.size(); ++row) {
    const int64_t source_line = rows.source_lines[row];
    Names cells;
    ids.add(source_line, cells);
    for (const int64_t number : {source_line, run.fold, run.repeat}) {
      cells.push_back(std::to_string(number));
    }
    add_target(model, rows, values, row, cells);
    fmt::memory_buffer line;
    text.add_rows(std::span(found.outputs).subspan(row * width, width), cells, line);
    lines.push_back({run.repeat, source_line, fmt::to_string(line)});
  }
}

/// Scales targets and outputs as `schema` does instead of the schema that they were read with.
void scale_again(const data::Schema& schema, SplitOutputs& found) {
  const std::vector<double> targets = data::true_values(found.schema, found.rows);
  found.outputs = data::scaled_targets(schema, data::predicted_values(found.schema, found.outputs));
  found.rows.values = data::scaled_targets(schema, targets);
  found.rows.targets = targets;
}

void append(const SplitOutputs& from, SplitOutputs& to) {
  data::append_rows(from.rows, to.rows);
  to.outputs.insert(to.outputs.end(), from.outputs.begin(), from.outputs.end());
  to.predict_seconds += from.predict_seconds;
  to.losses.insert(to.losses.end(), from.losses.begin(), from.losses.end());
}

SplitOutputs predict_fold(const Model& model, int64_t num_threads) {
  const bool is_tested = model.config().data.folds > 0;
  return predict_rows(model, is_tested ? own_split(model) : own_validation(model), num_threads);
}

}  // namespace

FoldOutputs predict_folds(const std::vector<std::filesystem::path>& runs, int64_t num_threads) {
  FoldOutputs folds{load_model(runs.front()), {}, {}};
  folds.of_first = predict_fold(folds.first, num_threads);
  data::Schema& schema = folds.all.schema = folds.of_first.schema;
  folds.all.split = kOutOfFold;
  schema.target_low.clear();  // each run has limited its predictions in its own way
  schema.target_high.clear();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SplitOutputs found = i == 0 ? folds.of_first : predict_fold(load_model(runs[i]), num_threads);
    if (found.schema.labels != schema.labels) {
      throw Error(ErrorKind::kData, fmt::format("{}: expected the classes of the first run, {}",
                                                runs[i].string(), joined(schema.labels)));
    }
    if (schema.task == config::Task::kRegression) scale_again(schema, found);
    found.rows.features = {.num_rows = found.rows.size(), .num_columns = 0, .values = {}};
    folds.sizes.push_back(found.rows.size());
    append(found, folds.all);
  }
  return folds;
}

void write_out_of_fold(const std::vector<FoldRun>& runs, const std::filesystem::path& output,
                       int64_t num_threads) {
  const Model first = load_model(runs.front().run_dir);
  const Ids ids(first);
  std::vector<Line> lines;
  for (const FoldRun& run : runs) {
    add_lines(run, load_model(run.run_dir), ids, num_threads, lines);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) {
    return std::pair(a.repeat, a.source_line) < std::pair(b.repeat, b.source_line);
  });
  const PredictionText text(first, names_behind(ids.names(), first), kDelimiter);
  fmt::memory_buffer header;
  text.add_header(header);
  Output file(output, text.columns(types_behind(ids.names().size(), first)));
  file.write({header.data(), header.size()});
  for (const Line& line : lines) file.write(line.text);
  file.finish();
}

}  // namespace trainer::apply
