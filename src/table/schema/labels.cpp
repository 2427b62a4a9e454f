// SPDX-License-Identifier: Apache-2.0
#include "table/schema/labels.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/table/schema/value_index.h"

#include "table/error.h"
#include "table/schema/fit_schema.h"

namespace trainer::data {

Array<int64_t> encode_labels(const Table& table, std::span<const std::string> labels,
                             const std::string& origin) {
  constexpr int64_t kNone = -1;
  const ValueIndex index(labels);
  const auto class_of = [&](const std::string& text) {
    const std::optional<size_t> found = index.find(text);
    return found ? static_cast<int64_t>(*found) : kNone;
  };
  const TargetCells& cells = table.targets;
  std::vector<int64_t> classes_of_labels;
  for (const std::string& text : cells.labels()) classes_of_labels.push_back(class_of(text));
  Array<int64_t> classes;
  classes.reserve(cells.size());
  for (size_t row = 0; row < cells.size(); ++row) {
    const int64_t found =
        cells.has_labels() ? classes_of_labels[cells.label(row)] : class_of(cells.text(row));
    if (found == kNone) {
      throw target_error(table, row_location(table, row),
                         fmt::format("the label {} does not occur in the training data {}",
                                     in_quotes(cells.text(row)), origin));
    }
    classes.push_back(found);
  }
  return classes;
}

void require_labels_for_folds(const Table& table, const Target& target, int64_t folds) {
  std::vector<int64_t> num_rows(target.labels.size());
  for (const int64_t label : target.classes) ++num_rows[static_cast<size_t>(label)];
  for (size_t i = 0; i < num_rows.size(); ++i) {
    if (num_rows[i] >= folds) continue;
    throw target_error(
        table, table.file,
        fmt::format("the label {} has {}, fewer than the {} folds, so some fold would lack it; use "
                    "fewer folds or drop its rows",
                    in_quotes(target.labels[i]), counted(num_rows[i], "row"), folds));
  }
}

void require_labels_in_training(const Table& table, const Target& target, const SplitIndices& split,
                                const config::DataConfig& data) {
  if (target.labels.empty()) return;  // a regression
  std::vector<bool> is_in_training(target.labels.size());
  Array<int64_t> merged;
  for (const int64_t row : rows_to_fit(split, data, merged)) {
    is_in_training[static_cast<size_t>(target.classes[static_cast<size_t>(row)])] = true;
  }
  Array<int64_t> others = split.validation;
  others.append(split.test.begin(), split.test.end());
  std::sort(others.begin(), others.end());
  for (const int64_t other : others) {
    const auto row = static_cast<size_t>(other);
    if (is_in_training[static_cast<size_t>(target.classes[row])]) continue;
    throw target_error(table, row_location(table, row),
                       fmt::format("the label {} does not occur in the training split; split the "
                                   "rows differently or remove rows with this label",
                                   in_quotes(table.targets.text(row))));
  }
}

void require_other_names(const Table& table, const Target& target) {
  std::unordered_set<std::string> taken = {"prediction"};
  if (table.target_names.size() > 1) {
    taken.clear();
    for (const std::string& name : table.target_names) taken.insert("prediction_" + name);
  }
  for (const std::string& label : target.labels) taken.insert("p_" + label);
  for (const Column& column : table.columns) {
    if (column.kind != ColumnKind::kId || !taken.contains(column.name)) continue;
    throw data_error(table.file,
                     fmt::format("data.id: column {} has the same name as a column of the "
                                 "predictions; rename it, or list it in data.ignore",
                                 in_quotes(column.name)));
  }
}

}  // namespace trainer::data
