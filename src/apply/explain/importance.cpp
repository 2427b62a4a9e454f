// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/explain/importance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>

#include "trainer/apply/evaluate.h"
#include "trainer/apply/predictor.h"
#include "trainer/base/error.h"
#include "trainer/base/philox.h"
#include "trainer/base/time/long_work.h"

namespace trainer::explain {
namespace {

constexpr std::string_view kWork = "shuffling columns";

/// The outputs `[num_outputs]` of a model that predicts the target means for every row. Empty if
/// the schema has no target means.
std::vector<float> constant_outputs(const apply::Model& model, const data::Schema& schema) {
  const std::vector<double>& means = schema.target_means;
  if (schema.task == config::Task::kRegression) return data::scaled_targets(schema, means);
  if (model.loss == config::Loss::kBinaryCrossEntropy && means.size() == 2) {
    return {static_cast<float>(std::log(means[1] / means[0]))};
  }
  std::vector<float> outputs;
  outputs.reserve(means.size());
  for (const double mean : means) outputs.push_back(static_cast<float>(std::log(mean)));
  return outputs;
}

/// Predicts rows with the cells of one column shuffled, and computes the metric.
class Shuffler {
 public:
  /// `model`, `rows` and `options` must outlive the object.
  Shuffler(const apply::Model& model, const ExplainedRows& rows, const ImportanceOptions& options)
      : model_(model),
        rows_(rows),
        options_(options),
        predictor_(model, options.num_threads),
        features_(as_floats(rows.rows.features)) {}

  double score_of(std::span<const float> outputs) const {
    const auto found =
        apply::score(model_, options_.metric,
                     {rows_.schema, rows_.rows, {outputs, model_.num_outputs(), model_.threshold}});
    if (found) return *found;
    throw Error(ErrorKind::kData, fmt::format("--metric: {} is not defined for these rows ({}); "
                                              "choose another metric",
                                              to_text(options_.metric), rows_.rows.size()));
  }

  double score() {
    predictor_.predict(features_, outputs_, rows_.fold_of_row);
    return score_of(outputs_);
  }

  /// The scores `[repeats]` with the cells of this group shuffled; `index` is that of the group.
  std::vector<double> shuffled_scores(std::size_t index, const ColumnGroup& group) {
    const std::vector<float> cells = take(group);
    std::vector<int64_t> order(static_cast<std::size_t>(features_.num_rows));
    std::vector<double> scores;
    for (int64_t repeat = 0; repeat < options_.repeats; ++repeat) {
      // Each repeat has its own random stream, so that more repeats do not change the first ones.
      PhiloxStream random(options_.seed, StreamId::kShuffledColumn,
                          static_cast<uint64_t>(index) << 32U | static_cast<uint64_t>(repeat));
      std::iota(order.begin(), order.end(), int64_t{0});
      shuffle(order, random);
      put(group, cells, order);
      scores.push_back(score());
    }
    std::iota(order.begin(), order.end(), int64_t{0});
    put(group, cells, order);
    return scores;
  }

 private:
  float* row(int64_t row) {
    return std::get<Array<float>>(features_.values).data() + row * features_.num_columns;
  }

  /// The values of the features of a group, `[rows, features of the group]`.
  std::vector<float> take(const ColumnGroup& group) {
    std::vector<float> cells;
    cells.reserve(static_cast<std::size_t>(features_.num_rows) * group.features.size());
    for (int64_t i = 0; i < features_.num_rows; ++i) {
      for (const int64_t feature : group.features) cells.push_back(row(i)[feature]);
    }
    return cells;
  }

  void put(const ColumnGroup& group, const std::vector<float>& cells,
           const std::vector<int64_t>& order) {
    const std::size_t width = group.features.size();
    for (int64_t i = 0; i < features_.num_rows; ++i) {
      const auto from = static_cast<std::size_t>(order[static_cast<std::size_t>(i)]) * width;
      for (std::size_t k = 0; k < width; ++k) row(i)[group.features[k]] = cells[from + k];
    }
  }

  const apply::Model& model_;
  const ExplainedRows& rows_;
  const ImportanceOptions& options_;
  apply::Predictor predictor_;
  data::Matrix features_;
  std::vector<float> outputs_;
};

ColumnImportance summarized(std::size_t group, const std::vector<double>& differences) {
  ColumnImportance column{.group = group};
  const auto count = static_cast<double>(differences.size());
  for (const double difference : differences) column.mean += difference / count;
  double squares = 0;
  for (const double difference : differences) {
    squares += (difference - column.mean) * (difference - column.mean);
  }
  column.deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return column;
}

void require_metric(const ExplainedRows& rows, config::BestMetric metric) {
  if (fits_task(metric, rows.schema.task)) return;
  throw Error(ErrorKind::kUsage, fmt::format("--metric: {} is not defined for {}; use loss",
                                             to_text(metric), to_text(rows.schema.task)));
}

}  // namespace

Importance permutation_importance(const apply::Model& model, const ExplainedRows& rows,
                                  std::span<const ColumnGroup> groups,
                                  const ImportanceOptions& wanted) {
  require_metric(rows, wanted.metric);
  ImportanceOptions options = wanted;
  if (options.metric == config::BestMetric::kCalibratedLogLoss) {
    options.metric = config::BestMetric::kLogLoss;
  }
  Shuffler shuffler(model, rows, options);
  Importance importance{.options = options,
                        .score = shuffler.score(),
                        .baseline = {},
                        .num_rows = rows.rows.size(),
                        .columns = {}};
  const std::vector<float> constant = constant_outputs(model, rows.schema);
  if (!constant.empty()) {
    std::vector<float> outputs;
    for (int64_t i = 0; i < rows.rows.size(); ++i) {
      outputs.insert(outputs.end(), constant.begin(), constant.end());
    }
    importance.baseline = shuffler.score_of(outputs);
  }
  const double sign = is_better_when_larger(options.metric) ? -1 : 1;
  const LongWork work(kWork);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    report_long_work(kWork, static_cast<double>(i) / static_cast<double>(groups.size()));
    std::vector<double> differences = shuffler.shuffled_scores(i, groups[i]);
    for (double& value : differences) value = sign * (value - importance.score);
    importance.columns.push_back(summarized(i, differences));
  }
  std::stable_sort(
      importance.columns.begin(), importance.columns.end(),
      [](const ColumnImportance& a, const ColumnImportance& b) { return a.mean > b.mean; });
  return importance;
}

}  // namespace trainer::explain
