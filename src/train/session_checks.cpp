// SPDX-License-Identifier: Apache-2.0
#include "train/session_checks.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/config/fields.h"
#include "trainer/config/recipe.h"
#include "trainer/nn/schedule/learning_rate.h"
#include "trainer/table/row_checks.h"

namespace trainer::train {
namespace {

// Rejects settings that do not fit the task, which with `data.task: auto` is known only from the
// data.
void check_task(const config::Config& config, const data::Schema& schema) {
  const config::TrainingConfig& training = config.training;
  const bool regression = schema.task == config::Task::kRegression;
  const std::string loss = "training.loss: " + config::to_text(config.training.loss);
  std::string problem;
  if (regression && config::is_for_classes(training.loss)) {
    problem = loss + " requires classes; set data.task: classification";
  } else if (!regression && config::is_for_regression(training.loss)) {
    problem = loss + " requires a numeric target; set data.task: regression";
  } else if (training.loss == config::Loss::kBinaryCrossEntropy && schema.labels.size() != 2) {
    problem = fmt::format("{} requires two classes, got {}; set training.loss: cross_entropy", loss,
                          schema.labels.size());
  } else if (!config::fits_task(training.best_metric, schema.task)) {
    problem = fmt::format("training.best_metric: {} is not defined for {}; use loss",
                          config::to_text(config.training.best_metric),
                          regression ? "regression" : "classification");
  } else if (training.best_metric == config::BestMetric::kBinaryF1 && schema.labels.size() != 2) {
    problem = fmt::format("training.best_metric: binary_f1 requires two classes, got {}; use f1",
                          schema.labels.size());
  } else if (regression && training.label_smoothing > 0) {
    problem = "training.label_smoothing: only applies to cross-entropy; remove it for regression";
  }
  if (problem.empty()) return;
  throw Error(ErrorKind::kUsage, fmt::format("{} (the target \"{}\" was inferred as {})", problem,
                                             fmt::join(schema.target_names, "\", \""),
                                             regression ? "regression" : "classification"));
}

void check_r2(const data::Dataset& validation) {
  constexpr const char* kRemedy = "set a larger data.validation_fraction, or use loss";
  if (validation.size() == 1) {
    throw Error(ErrorKind::kUsage,
                fmt::format("training.best_metric: r2 requires two rows in the validation split, "
                            "got one; {}",
                            kRemedy));
  }
  data::require_intact(validation);
  const std::span<const float> values = validation.values;
  const auto num_targets = values.size() / static_cast<std::size_t>(validation.size());
  if (!std::equal(values.begin() + static_cast<std::ptrdiff_t>(num_targets), values.end(),
                  values.begin())) {
    return;
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("training.best_metric: r2 requires different targets in the validation "
                          "split, but all of its rows have the same; {}",
                          kRemedy));
}

// Metrics other than loss and accuracy need a validation split, ranking metrics also two classes in
// it, R2 two rows with different targets.
void check_best_metric(const config::Config& config, const data::Dataset& validation) {
  const config::BestMetric metric = config.training.best_metric;
  if (metric == config::BestMetric::kLoss || metric == config::BestMetric::kAccuracy) return;
  const std::string name = config::to_text(config.training.best_metric);
  if (validation.size() == 0) {
    throw Error(ErrorKind::kUsage,
                fmt::format("training.best_metric: {} requires a validation split; set "
                            "data.validation_fraction above 0, or use loss",
                            name));
  }
  const std::span<const int64_t> classes = validation.classes;
  const bool ranks = metric == config::BestMetric::kAuroc || metric == config::BestMetric::kPrAuc;
  if (ranks) data::require_intact(validation);
  if (ranks && std::equal(classes.begin() + 1, classes.end(), classes.begin())) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format(
            "training.best_metric: {} requires two classes in the validation split, but all of its "
            "rows have the same class; set a larger data.validation_fraction, or use loss",
            name));
  }
  if (metric == config::BestMetric::kR2) check_r2(validation);
}

// The variance of one row is undefined, and the running variance would become NaN.
void check_batch_norm(const config::Config& config, int64_t num_train) {
  if (config.model.norm != config::Norm::kBatch) return;
  const int64_t batch_size = std::min(config.training.batch_size, num_train);
  const int64_t rest = schedule::samples_per_epoch(config.training, num_train) % batch_size;
  const int64_t num_rows = rest == 0 ? batch_size : rest;  // rows of the smallest batch
  const bool is_per_shard = !config.distributed.sync_batch_norm && config.distributed.shards > 1;
  if (is_per_shard && num_rows < 2 * config.distributed.shards) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format(
            "distributed.sync_batch_norm: false requires two rows for each of the {} shards "
            "(distributed.shards); {} training rows in batches of {} leave a batch of {} rows; "
            "set distributed.sync_batch_norm: true, or another batch size",
            config.distributed.shards, num_train, config.training.batch_size, num_rows));
  }
  if (num_rows > 1) return;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("training.batch_size: {} training rows in batches of {} leave a last batch of "
                  "one row, and model.norm: batch requires two; choose another batch size",
                  num_train, config.training.batch_size));
}

// Rejects more shards than a batch has rows, and a batch norm over several shards without the fused
// step.
void check_shards(const config::Config& config, int64_t num_train, c10::Device device) {
  const int64_t num_shards = std::max<int64_t>(1, config.distributed.shards);
  const int64_t num_rows = std::min(config.training.batch_size, num_train);
  if (num_shards > num_rows) {
    throw Error(ErrorKind::kUsage,
                fmt::format("distributed.shards: expected at most one for each of the {} rows of a "
                            "batch, got {}; set fewer shards (start fewer processes), or a larger "
                            "training.batch_size",
                            num_rows, num_shards));
  }
  const bool is_fused =
      config.training.step != config::StepKind::kAutograd && has_kernels(config, device);
  if (num_shards > 1 && config.model.norm == config::Norm::kBatch &&
      config.distributed.sync_batch_norm && !is_fused) {
    throw Error(
        ErrorKind::kUsage,
        "model.norm: batch over several shards (distributed.shards) needs the fused step, "
        "which computes in fp32 and bf16 on the CPU; set distributed.sync_batch_norm: false to "
        "normalize each shard by itself, or model.norm: layer");
  }
}

// Rejects a fused step that this run cannot use, instead of silently replacing it.
void check_step(const config::Config& config, c10::Device device) {
  if (config.training.step != config::StepKind::kFused || has_kernels(config, device)) return;
  throw Error(
      ErrorKind::kUsage,
      fmt::format("training.step: fused computes in fp32 and bf16 on the CPU; this run computes in "
                  "{} on {}; set training.step: auto",
                  config::to_text(config.precision), device.str()));
}

// Rejects a pattern without a match, which is most likely a mistake.
void check_each(const char* key, const std::vector<std::string>& patterns,
                const std::vector<std::string>& names) {
  for (const std::string& pattern : patterns) {
    const auto fits = [&](const std::string& name) { return matches_any(name, {&pattern, 1}); };
    if (std::any_of(names.begin(), names.end(), fits)) continue;
    throw Error(ErrorKind::kUsage, fmt::format("{}: no parameter matches {}; available: {}", key,
                                               in_quotes(pattern), joined(names)));
  }
}

}  // namespace

bool has_kernels(const config::Config& config, c10::Device device) {
  return device.is_cpu() && config.precision != config::Precision::kFp16 &&
         !config.model.activation_checkpointing;
}

void check_data(const config::Config& config, const data::Datasets& data, c10::Device device) {
  check_task(config, data.schema);
  check_best_metric(config, data.validation);
  check_batch_norm(config, data.train.size());
  check_step(config, device);
  check_shards(config, data.train.size(), device);
}

void check_patterns(const config::Config& config, const model::Network& model) {
  const model::FlatParameters& flat = model.parameters();
  std::vector<std::string> names;
  names.reserve(flat.specs.size());
  for (const network::TensorSpec& spec : flat.specs) names.push_back(spec.name);
  check_each("training.freeze", config.training.freeze, names);
  std::vector<std::string> factors;
  factors.reserve(config.training.lr_factors.size());
  for (const std::string& text : config.training.lr_factors) {
    factors.push_back(config::parse_lr_factor(text).value().pattern);
  }
  // The patterns of a recipe are for all kinds of tables, so some may match nothing.
  if (!config::has_recipe_default(config, "training.lr_factors")) {
    check_each("training.lr_factors", factors, names);
  }
  if (flat.num_trained == 0) {
    throw Error(ErrorKind::kUsage,
                "training.freeze: every parameter is frozen; leave at least one trainable");
  }
  for (const model::NamedTensor& buffer : model.buffers()) names.push_back(buffer.name);
  check_each("model.init_skip", config.model.init_skip, names);
}

model::NetworkOptions network_options(const config::Config& config) {
  std::vector<config::LearningRateFactor> lr_factors;
  lr_factors.reserve(config.training.lr_factors.size());
  for (const std::string& text : config.training.lr_factors) {
    // Checked when the configuration was loaded.
    lr_factors.push_back(config::parse_lr_factor(text).value());
  }
  return {.freeze = config.training.freeze,
          .lr_factors = std::move(lr_factors),
          .precision = config.precision,
          .activation_checkpointing = config.model.activation_checkpointing};
}

model::LossOptions loss_options(const config::TrainingConfig& training, config::Task task) {
  return {.kind = config::loss_for(training.loss, task),
          .label_smoothing = training.label_smoothing,
          .huber_delta = training.huber_delta};
}

}  // namespace trainer::train
