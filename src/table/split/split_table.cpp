// SPDX-License-Identifier: Apache-2.0
#include "table/split/split_table.h"

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/time/time_scopes.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/data_config.h"
#include "trainer/table/split/split_by_time.h"

#include "table/error.h"
#include "table/schema/labels.h"

namespace trainer::data {

SplitIndices split_table(const Table& table, const Target& target, const config::DataConfig& data,
                         const SplitOptions& options) {
  const TimedStage timed(Stage::kSplit);
  if (!table.times.empty()) {
    SplitIndices split = split_by_time(table.times, options);
    require_labels_in_training(table, target, split, data);
    return split;
  }
  if (table.splits.empty() && table.groups.empty()) {
    SplitIndices split = split_rows(table.features.num_rows, target.classes, options);
    // Fractions leave a row of each label for training, folds may not.
    if (options.validation_folds > 0) require_labels_in_training(table, target, split, data);
    return split;
  }
  SplitIndices split =
      table.splits.empty() ? split_groups(table.groups, options) : split_by_column(table.splits);
  if (split.train.empty()) {
    throw data_error(table.file,
                     fmt::format("column {}: expected at least one row with train, got none",
                                 in_quotes(data.split_column)));
  }
  require_labels_in_training(table, target, split, data);
  return split;
}

}  // namespace trainer::data
