// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/text/format.h"
#include "trainer/config/fields.h"

#include "config/bounds.h"
#include "config/conflicts.h"

namespace trainer::config {
namespace {

// The keys that decide between classification and regression.
const std::vector<std::string> kOfTask = {"training.loss", "data.task"};

}  // namespace

std::vector<Conflict> Conflicts::find() && {
  if (config_.output_dir.empty()) {
    report("output_dir", "expected a folder, got nothing; use . for the working directory");
  }
  check_source();
  check_table();
  check_idx();
  check_npy();
  check_split();
  check_folds();
  check_model();
  check_training();
  check_schedule();
  return std::move(problems_);
}

bool Conflicts::is_changed(const std::string& key) const {
  static const Config kDefaults;
  return loaded_.origins.contains(key) && value_text(key, config_) != value_text(key, kDefaults);
}

bool Conflicts::is_written(const std::string& key) const {
  const std::string value = value_text(key, config_);
  return loaded_.origins.contains(key) && value != "\"\"" && value != "[]";
}

std::string Conflicts::remove(const std::string& key) {
  return fmt::format("remove one, or unset it with {}=null", key);
}

void Conflicts::report(const std::string& key, const std::string& problem,
                       std::vector<Conflict::Yield> yields) {
  const std::string origin = origin_of(loaded_, key);
  problems_.push_back(
      {fmt::format("{}{}: {}", origin == "default" ? "" : origin + ": ", key, problem),
       std::move(yields)});
}

std::vector<Conflict::Yield> Conflicts::either(const std::string& key, const std::string& other) {
  return {{key, other}, {other, key}};
}

std::vector<Conflict::Yield> Conflicts::to(const std::vector<std::string>& others,
                                           const std::string& key) {
  std::vector<Conflict::Yield> yields;
  yields.reserve(others.size());
  for (const std::string& other : others) yields.push_back({key, other});
  return yields;
}

void Conflicts::check_model() {
  const ModelConfig& model = config_.model;
  if (!model.hidden_sizes.empty()) {
    for (const char* key : {"model.hidden_size", "model.num_layers"}) {
      if (!is_written(key)) continue;
      report(key, "conflicts with model.hidden_sizes; " + remove(key),
             either(key, "model.hidden_sizes"));
    }
  }
  if (static_cast<double>(model.hidden_sizes.size()) > *kDepth.max) {
    report("model.hidden_sizes", fmt::format("expected at most {} layers, got {}", *kDepth.max,
                                             model.hidden_sizes.size()));
    return;
  }
  const std::vector<int64_t> widths = hidden_sizes(model);
  const bool equal = std::all_of(widths.begin(), widths.end(),
                                 [&](int64_t width) { return width == widths.front(); });
  if (model.residual && (widths.size() < 2 || !equal)) {
    report("model.residual", fmt::format("expected at least two hidden layers of equal width, "
                                         "got [{}]",
                                         fmt::join(widths, ", ")));
  }
  if (model.parametrization == Parametrization::kNtk &&
      config_.training.optimizer.name != OptimizerName::kAdamw) {
    report("model.parametrization", "ntk requires training.optimizer.name: adamw",
           to({"training.optimizer.name"}, "model.parametrization"));
  }
  const auto require_embedding = [&](const char* key, NumericEmbedding needed) {
    if (model.numeric_embedding == needed || !is_changed(key)) return;
    report(key, fmt::format("has no effect unless model.numeric_embedding is {}", to_text(needed)),
           to({"model.numeric_embedding"}, key));
  };
  require_embedding("model.num_frequencies", NumericEmbedding::kPeriodic);
  require_embedding("model.frequency_deviation", NumericEmbedding::kPeriodic);
  require_embedding("model.num_bins", NumericEmbedding::kPiecewiseLinear);
  if (model.numeric_embedding == NumericEmbedding::kNone &&
      is_changed("model.numeric_embedding_size")) {
    report("model.numeric_embedding_size", "has no effect without model.numeric_embedding",
           to({"model.numeric_embedding"}, "model.numeric_embedding_size"));
  }
  if (model.activation_checkpointing && config_.training.step == StepKind::kFused) {
    report("model.activation_checkpointing",
           "conflicts with training.step: fused, which keeps all activations; set training.step: "
           "auto",
           either("model.activation_checkpointing", "training.step"));
  }
}

void Conflicts::check_training() {
  const TrainingConfig& training = config_.training;
  const OptimizerConfig& optimizer = training.optimizer;
  if (optimizer.nesterov && optimizer.name != OptimizerName::kSgd) {
    report("training.optimizer.nesterov", "requires training.optimizer.name: sgd",
           to({"training.optimizer.name"}, "training.optimizer.nesterov"));
  } else if (optimizer.nesterov && optimizer.momentum == 0) {
    report("training.optimizer.nesterov", "requires training.optimizer.momentum above 0",
           to({"training.optimizer.momentum"}, "training.optimizer.nesterov"));
  }
  for (const std::string& text : training.lr_factors) {
    if (parse_lr_factor(text)) continue;
    report("training.lr_factors",
           fmt::format("expected PATTERN=FACTOR with a factor of at least 0, such as "
                       "\"*.bias=0.1\", got {}",
                       in_quotes(text)));
  }
  if (training.best_metric == BestMetric::kCalibratedLogLoss && !training.calibrate) {
    report("training.best_metric", "calibrated_log_loss requires training.calibrate: true",
           to({"training.calibrate"}, "training.best_metric"));
  }
  check_loss();
  check_of_task();
}

bool Conflicts::is_regression() const {
  return config_.data.task == Task::kRegression || is_for_regression(config_.training.loss);
}

void Conflicts::check_loss() {
  const TrainingConfig& training = config_.training;
  const Task task = config_.data.task;
  if (is_for_regression(training.loss) && task == Task::kClassification) {
    report("training.loss",
           fmt::format("{} requires data.task: regression", to_text(config_.training.loss)),
           either("training.loss", "data.task"));
  }
  if (is_for_classes(training.loss) && task == Task::kRegression) {
    report("training.loss",
           fmt::format("{} requires data.task: classification", to_text(config_.training.loss)),
           either("training.loss", "data.task"));
  }
  if (training.label_smoothing > 0 && is_regression()) {
    report("training.label_smoothing", "only applies to cross-entropy; remove it for regression",
           to(kOfTask, "training.label_smoothing"));
  } else if (training.label_smoothing > 0 && training.loss == Loss::kBinaryCrossEntropy) {
    report("training.label_smoothing",
           "only supported for training.loss: cross_entropy, which also works for two classes",
           to({"training.loss"}, "training.label_smoothing"));
  }
  if (is_changed("training.huber_delta") && training.loss != Loss::kHuber) {
    report("training.huber_delta", "has no effect unless training.loss is huber",
           to({"training.loss"}, "training.huber_delta"));
  }
}

// Checks the keys that apply only to classification, or only to regression.
void Conflicts::check_of_task() {
  const TrainingConfig& training = config_.training;
  const Task task = config_.data.task;
  const bool regression = is_regression();
  if (is_changed("training.calibrate") && regression) {
    report("training.calibrate", "only applies to classification; remove it for regression",
           to(kOfTask, "training.calibrate"));
  }
  if (config_.data.class_weights != ClassWeights::kNone && regression) {
    report("data.class_weights", "only applies to classification; remove it for regression",
           to(kOfTask, "data.class_weights"));
  }
  for (const char* key : {"data.target_scaling", "data.clip_predictions"}) {
    if (is_changed(key) && (task == Task::kClassification || is_for_classes(training.loss))) {
      report(key, "only applies to regression; remove it for classification", to(kOfTask, key));
    }
  }
  if (!fits_task(training.best_metric, regression ? Task::kRegression : task)) {
    report("training.best_metric",
           fmt::format("{} is not defined for {}; use loss", to_text(config_.training.best_metric),
                       regression ? "regression" : "classification"),
           to(kOfTask, "training.best_metric"));
  }
}

void Conflicts::check_schedule() {
  using Name = ScheduleName;
  const TrainingConfig& training = config_.training;
  const ScheduleConfig& schedule = training.schedule;
  if (schedule.warmup_epochs > static_cast<double>(training.epochs)) {
    report("training.schedule.warmup_epochs",
           fmt::format("expected at most training.epochs ({}), got {:g}", training.epochs,
                       schedule.warmup_epochs));
  }
  if (schedule.warmup_epochs > 0 && schedule.name == Name::kOneCycle) {
    report("training.schedule.warmup_epochs",
           "conflicts with training.schedule.name: one_cycle, which has its own warm-up; set "
           "training.schedule.rise_fraction instead",
           either("training.schedule.warmup_epochs", "training.schedule.name"));
  }
  check_schedule_key("final_factor", {Name::kLinear, Name::kCosine, Name::kOneCycle});
  check_schedule_key("step_epochs", {Name::kStep});
  check_schedule_key("cycles", {Name::kCoslog});
  check_schedule_key("gamma", {Name::kStep, Name::kReduceOnPlateau});
  for (const char* key : {"rise_fraction", "initial_factor"}) {
    check_schedule_key(key, {Name::kOneCycle});
  }
  for (const char* key : {"patience", "threshold", "cooldown", "min_learning_rate"}) {
    check_schedule_key(key, {Name::kReduceOnPlateau});
  }
  if (schedule.name == Name::kReduceOnPlateau &&
      schedule.min_learning_rate > training.learning_rate) {
    report("training.schedule.min_learning_rate",
           fmt::format("expected at most training.learning_rate ({:g}), got {:g}",
                       training.learning_rate, schedule.min_learning_rate));
  }
}

// Reports a key of another schedule than the chosen one, because it has no effect.
void Conflicts::check_schedule_key(const std::string& leaf, const std::vector<ScheduleName>& of) {
  const std::string key = "training.schedule." + leaf;
  const ScheduleName name = config_.training.schedule.name;
  if (!is_changed(key) || std::find(of.begin(), of.end(), name) != of.end()) return;
  std::vector<std::string> names;
  names.reserve(of.size());
  Config other;
  for (const ScheduleName possible : of) {
    other.training.schedule.name = possible;
    names.push_back(to_text(other.training.schedule.name));
  }
  report(key,
         fmt::format("has no effect unless training.schedule.name is {}", joined(names, " or ")),
         to({"training.schedule.name"}, key));
}

std::vector<std::string> find_conflicts(const Loaded& loaded) {
  std::vector<std::string> texts;
  for (Conflict& conflict : Conflicts(loaded).find()) texts.push_back(std::move(conflict.text));
  return texts;
}

}  // namespace trainer::config
