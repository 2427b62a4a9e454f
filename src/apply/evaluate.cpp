// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/evaluate.h"

#include <cstddef>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/predictor.h"
#include "trainer/cache/load.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/core/error.h"
#include "trainer/core/format.h"
#include "trainer/cpu/kernels.h"
#include "trainer/cpu/losses.h"
#include "trainer/data/apply_schema.h"
#include "trainer/data/column_notes.h"
#include "trainer/data/fingerprint.h"
#include "trainer/data/idx.h"
#include "trainer/data/npy.h"
#include "trainer/data/row_checks.h"
#include "trainer/data/table_pieces.h"

#include "apply/rows.h"

namespace trainer::apply {
namespace {

constexpr int64_t kBatchSize = 4096;

/// The loss of each row `[n]`, not weighted.
std::vector<float> row_losses(const Model& model, std::span<const float> outputs,
                              const data::Dataset& rows) {
  const int64_t width = model.num_outputs();
  const std::vector<float> no_bias(static_cast<std::size_t>(width));
  std::vector<float> changed(outputs.begin(), outputs.end());  // by the kernels
  std::vector<float> losses(outputs.size() / static_cast<std::size_t>(width));
  std::vector<int32_t> correct(losses.size());
  const cpu::LossInput input{.tile = {.num_rows = static_cast<int64_t>(losses.size()),
                                      .num_columns = width,
                                      .stride = width},
                             .outputs = changed.data(),
                             .bias = no_bias.data(),
                             .label_smoothing = model.config().training.label_smoothing,
                             .huber_delta = model.config().training.huber_delta,
                             .wants_gradient = false};
  const bool is_regression = model.schema.task == config::Task::kRegression;
  cpu::compute_losses(cpu::kernels(), model.loss, input,
                      {.classes = is_regression ? nullptr : rows.classes.data(),
                       .values = is_regression ? rows.values.data() : nullptr},
                      {.losses = losses.data(), .correct = correct.data()});
  return losses;
}

double weight_of(const data::Dataset& rows, std::size_t i) {
  return rows.weights.empty() ? 1 : static_cast<double>(rows.weights[i]);
}

/// Outputs and targets of rows that come one piece after the other.
class Evaluation {
 public:
  /// `target_means` of a run's own data are known, however old its checkpoint is.
  Evaluation(const Model& model, int64_t num_threads, std::vector<double> target_means)
      : model_(model), schema_(model.schema), predictor_(model, num_threads) {
    schema_.target_means = std::move(target_means);
  }

  void add(const data::Dataset& rows) {
    predictor_.predict(rows.features, piece_);
    const std::vector<float> losses = row_losses(model_, piece_, rows);
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const double weight = weight_of(rows, i);
      loss_sum_ += weight * static_cast<double>(losses[i]);
      weight_sum_ += weight;
    }
    outputs_.insert(outputs_.end(), piece_.begin(), piece_.end());
    all_.classes.append(rows.classes.begin(), rows.classes.end());
    all_.values.append(rows.values.begin(), rows.values.end());
  }

  metrics::Report report() const {
    return metrics::make_report({schema_, all_, outputs()}, loss_sum_ / weight_sum_);
  }

  metrics::Outputs outputs() const { return {outputs_, model_.num_outputs(), model_.threshold}; }
  std::span<const int64_t> classes() const { return all_.classes; }

 private:
  const Model& model_;
  data::Schema schema_;
  Predictor predictor_;
  std::vector<float> piece_;
  std::vector<float> outputs_;
  data::Dataset all_;  // targets only
  double loss_sum_ = 0;
  double weight_sum_ = 0;
};

/// Targets in a file of their own belong to features that are no table, and only to them.
void require_right_files(const Model& model, const EvaluateRequest& request) {
  const std::string name = data::source_name(request.data);
  const bool is_array = data::is_npy(request.data.path) || is_idx(request.data.path);
  if (!request.targets.empty() && (!model.schema.columns.empty() || !is_array)) {
    throw Error(ErrorKind::kUsage, fmt::format("--targets: only for IDX images and NumPy arrays; "
                                               "the targets of a table are in {} itself",
                                               name));
  }
  if (!is_array || !request.targets.empty()) return;
  if (!model.schema.columns.empty()) {
    if (!data::is_npy(request.data.path)) return;  // the reader of tables knows what it is
    refuse_array(request.data.path);
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("--targets: expected a file with the targets of {}, got nothing", name));
}

/// The file that the labels of the training data come from, for messages.
const std::string& label_file(const config::DataConfig& data) {
  if (data.source == config::Source::kIdx) return data.idx.train_labels;
  if (data.source == config::Source::kNpy) return data.npy.targets;
  return data.path;
}

data::Dataset read_pair(const Model& model, const EvaluateRequest& request) {
  const data::Schema& schema = model.schema;
  data::Table table =
      data::is_npy(request.data.path)
          ? data::read_npy_pair(request.data.path, request.targets, &schema.scaling.offset,
                                schema.task == config::Task::kClassification)
          : data::read_idx_pair(request.data.path, request.targets);
  require_width(schema, table.features.num_columns, request.data.path);
  data::subtract_offsets(table.features, schema.scaling.offset);  // of images
  const auto num_targets = static_cast<int64_t>(table.target_names.size());
  if (num_targets != schema.num_targets()) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: expected {} per row as in the training data, got {}",
                            request.targets.string(), counted(schema.num_targets(), "target"),
                            num_targets));
  }
  std::vector<int64_t> num_unknown;
  return data::apply_schema(std::move(table), schema, label_file(model.config().data), num_unknown);
}

std::string contents_text(const std::vector<data::Fingerprint>& files) {
  std::vector<std::string> contents;
  contents.reserve(files.size());
  for (const data::Fingerprint& file : files) contents.push_back(data::content_text(file));
  return joined(contents);
}

// Of an ensemble of folds, each row was trained on by some member.
void require_unseen_split(const Model& model) {
  if (!model.is_ensemble() || model.config().data.folds == 0) return;
  throw Error(
      ErrorKind::kData,
      fmt::format("{}: the members of this ensemble were trained on all rows of the data; "
                  "cv.json has the metrics of the folds; for others name a file with --data",
                  model.file.string()));
}

}  // namespace

void require_same_data(const Model& model, const data::Datasets& datasets) {
  const std::string before = contents_text(model.fingerprints);
  const std::string now = contents_text(datasets.fingerprints);
  if (before == now) return;
  throw Error(ErrorKind::kData, fmt::format("{}: the data files of the run have changed: expected "
                                            "{}, got {}; name the file to evaluate with --data",
                                            model.file.string(), before, now));
}

EvaluationResult evaluate_file(const Model& model, const EvaluateRequest& request) {
  require_right_files(model, request);
  Evaluation evaluation(model, request.num_threads, model.schema.target_means);
  if (!request.targets.empty()) {
    evaluation.add(read_pair(model, request));
    return {.report = evaluation.report()};
  }
  const std::string name = data::source_name(request.data);
  data::Schema schema = model.schema;
  schema.columns = make_columns(schema);
  const std::string& weight = model.config().data.weight;
  data::TablePieces pieces(
      request.data, {.columns = schema.columns,
                     .targets = schema.target_names,
                     .weight = weight,
                     .may_lack_weight = true,
                     .delimiter_option = "--delimiter ",
                     .drop_rows_without_target = model.config().data.drop_rows_without_target});
  std::vector<int64_t> num_unknown(schema.columns.size());
  bool has_weights = false;
  double weight_sum = 0;
  for (data::Table table; pieces.next(table, kBatchSize); table = {}) {
    const data::Dataset rows =
        data::apply_schema(std::move(table), schema, label_file(model.config().data), num_unknown);
    has_weights = has_weights || !rows.weights.empty();
    weight_sum += std::accumulate(rows.weights.begin(), rows.weights.end(), 0.0);
    evaluation.add(rows);
  }
  if (has_weights && weight_sum == 0) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: column {}: every row has weight 0", name, in_quotes(weight)));
  }
  EvaluationResult result{.report = evaluation.report()};
  result.num_without_target = pieces.num_without_target();
  result.warnings = data::describe_unknown(schema.columns, num_unknown, name);
  if (!weight.empty() && !has_weights) {
    result.warnings.push_back(
        fmt::format("{} has no column {} (data.weight); all rows have the same weight in the loss",
                    name, in_quotes(weight)));
  }
  return result;
}

SplitOutputs predict_own_split(const Model& model, int64_t num_threads) {
  require_unseen_split(model);
  data::Datasets datasets =
      cache::load(model.config().data, static_cast<uint64_t>(model.config().seed), &model.schema);
  require_same_data(model, datasets);
  const bool has_test = datasets.test.size() > 0;
  if (!has_test && model.is_ensemble() && model.config().data.validation_folds > 0) {
    throw Error(ErrorKind::kData,
                fmt::format("{}: the ensemble has no test split, and each row of its validation "
                            "splits was trained on by other members; name a file with --data",
                            model.file.string()));
  }
  SplitOutputs found{.split = has_test ? "test" : "validation",
                     .schema = model.schema,
                     .rows = std::move(has_test ? datasets.test : datasets.validation),
                     .outputs = {},
                     .losses = {}};
  if (found.rows.size() == 0) {
    throw Error(
        ErrorKind::kData,
        fmt::format(
            "{}: the run has no test split and no validation split; name a file with --data",
            model.file.string()));
  }
  found.schema.target_means = std::move(datasets.schema.target_means);
  data::require_intact(found.rows);
  Predictor(model, num_threads).predict(found.rows.features, found.outputs);
  found.losses = row_losses(model, found.outputs, found.rows);
  return found;
}

EvaluationResult evaluate_own_split(const Model& model, int64_t num_threads) {
  const SplitOutputs found = predict_own_split(model, num_threads);
  double loss_sum = 0;
  double weight_sum = 0;
  for (std::size_t i = 0; i < found.losses.size(); ++i) {
    const double weight = weight_of(found.rows, i);
    loss_sum += weight * static_cast<double>(found.losses[i]);
    weight_sum += weight;
  }
  const metrics::Outputs outputs{found.outputs, model.num_outputs(), model.threshold};
  return {
      .report = metrics::make_report({found.schema, found.rows, outputs}, loss_sum / weight_sum),
      .split = found.split};
}

namespace {

/// A member of an ensemble as a model of its own.
Model alone(const Model& model, std::size_t member) {
  Model one = model;
  one.members = {model.members[member]};
  return one;
}

}  // namespace

metrics::ThresholdChoice find_threshold(const Model& model, metrics::DecisionMetric metric,
                                        int64_t num_threads) {
  std::vector<float> outputs;
  std::vector<int64_t> classes;
  config::DataConfig data = model.config().data;
  for (std::size_t i = 0; i < model.members.size(); ++i) {
    if (data.validation_folds > 0 && model.is_ensemble()) {
      data.validation_fold = static_cast<int64_t>(i) + 1;
    } else if (i > 0) {
      break;  // all members validate on the same rows
    }
    const data::Datasets datasets =
        cache::load(data, static_cast<uint64_t>(model.config().seed), &model.schema);
    require_same_data(model, datasets);
    if (datasets.validation.size() == 0) continue;
    const Model member = data.validation_folds > 0 ? alone(model, i) : model;
    Evaluation evaluation(member, num_threads, datasets.schema.target_means);
    data::require_intact(datasets.validation);
    evaluation.add(datasets.validation);
    const std::span<const float> values = evaluation.outputs().values;
    outputs.insert(outputs.end(), values.begin(), values.end());
    classes.insert(classes.end(), evaluation.classes().begin(), evaluation.classes().end());
  }
  const auto best = metrics::best_threshold({outputs, model.num_outputs()}, classes, metric);
  if (best) return *best;
  throw Error(ErrorKind::kData,
              fmt::format("--threshold: {}: expected a validation split with rows of both classes; "
                          "give the threshold as a number",
                          model.file.string()));
}

}  // namespace trainer::apply
