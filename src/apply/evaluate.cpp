// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/evaluate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/apply/predictor.h"
#include "trainer/base/error.h"
#include "trainer/base/parallel/parallel.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/config/config.h"  // IWYU pragma: keep
#include "trainer/metrics/classification.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/losses.h"
#include "trainer/table/source/data_file.h"

namespace trainer::apply {
namespace {

/// Collects the outputs and targets of rows that are added batch by batch.
class Evaluation {
 public:
  /// `target_means` replace those of the model's schema, which old checkpoints lack.
  Evaluation(const Model& model, std::vector<double> target_means)
      : model_(model), schema_(model.schema) {
    schema_.target_means = std::move(target_means);
  }

  void add(const data::Dataset& rows, std::span<const float> outputs,
           std::span<const float> losses) {
    loss_.add(losses, rows);
    outputs_.insert(outputs_.end(), outputs.begin(), outputs.end());
    all_.classes.append(rows.classes.begin(), rows.classes.end());
    all_.values.append(rows.values.begin(), rows.values.end());
    all_.targets.append(rows.targets.begin(), rows.targets.end());
  }

  metrics::Report report() const {
    return metrics::make_report({schema_, all_, outputs()}, loss_.value());
  }

  metrics::Outputs outputs() const { return {outputs_, model_.num_outputs(), model_.threshold}; }
  std::span<const int64_t> classes() const { return all_.classes; }

 private:
  const Model& model_;
  data::Schema schema_;
  std::vector<float> outputs_;
  data::Dataset all_;  // targets only
  MeanLoss loss_;
};

void add_rows(const Model& model, const data::Dataset& rows, int64_t num_threads,
              Evaluation& evaluation) {
  std::vector<float> outputs;
  Predictor(model, num_threads).predict(rows.features, outputs);
  evaluation.add(rows, outputs, row_losses(model, outputs, rows));
}

FileNotes add_table(const Model& model, const data::TableSource& source, int64_t num_threads,
                    Evaluation& evaluation) {
  struct Results {
    std::vector<float> outputs;
    std::vector<float> losses;
  };
  std::vector<Results> results(pipeline_slots(num_threads));
  std::vector<std::optional<Predictor>> predictors(static_cast<std::size_t>(num_threads));
  const auto work = [&](std::size_t slot, std::size_t thread, const data::Dataset& rows) {
    Results& of_slot = results[slot];
    if (!predictors[thread]) predictors[thread].emplace(model, /*num_threads=*/1);
    predictors[thread]->predict(rows.features, of_slot.outputs);
    of_slot.losses = row_losses(model, of_slot.outputs, rows);
  };
  const auto take = [&](std::size_t slot, const data::Dataset& rows) {
    evaluation.add(rows, results[slot].outputs, results[slot].losses);
  };
  return read_labelled_table(model, source, num_threads, {.work = work, .take = take});
}

/// Whether `path` has the content of a file that the run has trained on.
bool is_training_file(const Model& model, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  const fs::path test_file = fs::weakly_canonical(model.config().data.test_path, ignored);
  const uint64_t num_bytes = fs::file_size(path, ignored);
  return std::any_of(model.fingerprints.begin(), model.fingerprints.end(),
                     [&](const data::Fingerprint& file) {
                       return file.num_bytes == num_bytes &&
                              fs::weakly_canonical(file.path, ignored) != test_file &&
                              file.crc32 == data::fingerprint(path).crc32;
                     });
}

}  // namespace

EvaluationResult evaluate_file(const Model& model, const LabelledFile& file, int64_t num_threads) {
  Evaluation evaluation(model, model.schema.target_means);
  FileNotes notes = file.targets.empty()
                        ? add_table(model, file.data, num_threads, evaluation)
                        : read_labelled(model, file, [&](const data::Dataset& rows) {
                            add_rows(model, rows, num_threads, evaluation);
                          });
  if (is_training_file(model, file.data.path)) {
    notes.warnings.push_back(
        fmt::format("{} is the data of the run: the model was trained on most of these rows, so "
                    "the metrics say "
                    "little about others; without --data, rows that it has not seen are taken",
                    file.data.path));
  }
  return {.report = evaluation.report(), .notes = std::move(notes)};
}

SplitOutputs predict_rows(const Model& model, SplitRows rows, int64_t num_threads) {
  SplitOutputs found{std::move(rows), {}, {}};
  const Stopwatch stopwatch;
  Predictor(model, num_threads).predict(found.rows.features, found.outputs, found.fold_of_row);
  found.predict_seconds = stopwatch.seconds();
  found.losses = row_losses(model, found.outputs, found.rows);
  return found;
}

SplitOutputs predict_own_split(const Model& model, int64_t num_threads) {
  return predict_rows(model, own_split(model), num_threads);
}

EvaluationResult evaluate_own_split(const Model& model, int64_t num_threads) {
  const SplitOutputs found = predict_own_split(model, num_threads);
  MeanLoss loss;
  loss.add(found.losses, found.rows);
  const metrics::Outputs outputs{found.outputs, model.num_outputs(), model.threshold};
  return {.report = metrics::make_report({found.schema, found.rows, outputs}, loss.value()),
          .split = found.split};
}

metrics::ThresholdChoice find_threshold(const Model& model, metrics::DecisionMetric metric,
                                        int64_t num_threads) {
  const SplitRows found = own_validation(model);
  std::vector<float> outputs;
  Predictor(model, num_threads).predict(found.rows.features, outputs, found.fold_of_row);
  const auto best =
      metrics::best_threshold({outputs, model.num_outputs()}, found.rows.classes, metric);
  if (best) return *best;
  throw Error(ErrorKind::kData,
              fmt::format("--threshold: {}: expected a validation split with rows of both classes; "
                          "give the threshold as a number",
                          model.file.string()));
}

std::vector<float> row_losses(const Model& model, std::span<const float> outputs,
                              const data::Dataset& rows) {
  const int64_t width = model.num_outputs();
  const std::vector<float> no_bias(static_cast<std::size_t>(width));
  std::vector<float> changed(outputs.begin(), outputs.end());  // the kernels overwrite it
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

void MeanLoss::add(std::span<const float> losses, const data::Dataset& rows) {
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double weight = rows.weights.empty() ? 1 : static_cast<double>(rows.weights[i]);
    loss_sum_ += weight * static_cast<double>(losses[i]);
    weight_sum_ += weight;
  }
}

// The losses are computed directly, without all other scores, which take long for many classes.
std::optional<double> score(const Model& model, config::BestMetric metric,
                            const metrics::LabelledOutputs& labelled) {
  const std::span<const int64_t> classes = labelled.rows.classes;
  if (metric == config::BestMetric::kLoss) {
    MeanLoss mean;
    mean.add(row_losses(model, labelled.outputs.values, labelled.rows), labelled.rows);
    return mean.value();
  }
  if (metric == config::BestMetric::kLogLoss || metric == config::BestMetric::kCalibratedLogLoss) {
    return metrics::log_loss(labelled.outputs, classes);  // a model's outputs are calibrated
  }
  const bool ranks = metric == config::BestMetric::kAuroc || metric == config::BestMetric::kPrAuc;
  const std::optional<double> value = metrics::find_score(
      metrics::scores(labelled, ranks ? metrics::Ranking::kOfAll : metrics::Ranking::kOfTwoClasses),
      to_text(metric));
  return value && std::isnan(*value) ? std::nullopt : value;
}

}  // namespace trainer::apply
