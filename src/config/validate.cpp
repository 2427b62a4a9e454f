// SPDX-License-Identifier: Apache-2.0
#include "config/validate.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/text/format.h"
#include "trainer/config/fields.h"

#include "config/bounds.h"

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
  check_members();
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

namespace {

// Keys that have no effect unless the data are a table.
constexpr std::array kTableKeys = {"data.target",
                                   "data.delimiter",
                                   "data.decimal",
                                   "data.thousands",
                                   "data.missing",
                                   "data.drop_rows_without_target",
                                   "data.ignore",
                                   "data.id",
                                   "data.numeric",
                                   "data.categorical",
                                   "data.max_categories",
                                   "data.cache",
                                   "data.dates",
                                   "data.date_order",
                                   "data.binary",
                                   "data.scale_categories",
                                   "data.embed_above",
                                   "data.embedding_size",
                                   "data.unknown_category",
                                   "data.fill",
                                   "data.fill_value",
                                   "data.missing_indicator",
                                   "data.weight",
                                   "data.outliers",
                                   "data.validation_path",
                                   "data.test_path",
                                   "data.split_column",
                                   "data.group",
                                   "data.split",
                                   "data.time"};

}  // namespace

// A file that is named but not used would mean that the run is on other data than the user
// believes.
void Conflicts::check_source() {
  const auto& data = config_.data;
  for (const char* key : kTableKeys) {
    if (is_changed(key) && !is_table(data.source)) {
      report(key, "has no effect unless data.source is csv or query; set data.source: csv",
             to({"data.source"}, key));
    }
  }
  for (const auto& [key, source] :
       {std::pair("data.path", Source::kCsv), std::pair("data.query", Source::kQuery),
        std::pair("data.query_folder", Source::kQuery),
        std::pair("data.query_files", Source::kQuery)}) {
    if (!is_changed(key) || data.source == source) continue;
    report(key,
           fmt::format("has no effect unless data.source is {}; set data.source: {}",
                       to_text(source), to_text(source)),
           either(key, "data.source"));
  }
  if (is_by_quantiles(data.scaling) && !is_table(data.source)) {
    report("data.scaling",
           fmt::format("quantile scaling is only supported for tables, not "
                       "for data.source: {}; use robust",
                       value_text("data.source", config_)),
           to({"data.source"}, "data.scaling"));
  }
  const auto need_source = [&](const std::string& name, Source source,
                               std::initializer_list<const char*> keys) {
    for (const char* last : keys) {
      const std::string key = fmt::format("data.{}.{}", name, last);
      if (!is_changed(key) || data.source == source) continue;
      report(key,
             fmt::format("has no effect unless data.source is {}; set data.source: {}", name, name),
             either(key, "data.source"));
    }
  };
  need_source("idx", Source::kIdx, {"train_images", "train_labels", "test_images", "test_labels"});
  need_source("npy", Source::kNpy, {"features", "targets", "test_features", "test_targets"});
}

void Conflicts::require(const std::string& key, const std::string& value,
                        const std::string& source) {
  if (value.empty()) {
    report(key, fmt::format("expected a value because data.source is {}, got nothing", source));
  }
}

void Conflicts::check_table() {
  const Source source = config_.data.source;
  if (!is_table(source)) return;
  if (source == Source::kCsv) require("data.path", config_.data.path, "csv");
  if (source == Source::kQuery) require("data.query", config_.data.query, "query");
  require("data.target", fmt::format("{}", fmt::join(config_.data.target, "")), to_text(source));
  check_targets();
  const std::string& delimiter = config_.data.delimiter;
  if (config_.data.decimal == "," && (delimiter == "comma" || delimiter == ",")) {
    report("data.decimal",
           "conflicts with data.delimiter, which is also a comma; change one of them",
           either("data.decimal", "data.delimiter"));
  }
  if (config_.data.decimal == config_.data.thousands) {
    report("data.thousands",
           "conflicts with data.decimal, which is the same mark; change one of them");
  }
  if (is_changed("data.fill_value") && config_.data.fill != Imputation::kConstant) {
    report("data.fill_value", "has no effect unless data.fill is constant",
           to({"data.fill"}, "data.fill_value"));
  }
  if (source == Source::kQuery && is_changed("data.cache")) {
    report("data.cache",
           "has no effect on a query, as nothing tells whether its tables changed; "
           "write its result to a Parquet file and set data.path",
           to({"data.source", "data.query"}, "data.cache"));
  }
  check_dates();
  check_parts();
}

void Conflicts::check_dates() {
  const std::vector<std::string>& dates = config_.data.dates;
  const bool is_word = dates.size() == 1 && (dates[0] == "auto" || dates[0] == "off");
  if (is_word) return;
  const auto bad = std::find_if(dates.begin(), dates.end(), [](const std::string& name) {
    return !from_text<DatePart>(name).has_value();
  });
  if (bad == dates.end() && !dates.empty()) return;
  report("data.dates",
         fmt::format("expected auto, off, or a list of {}, got {}", joined(enum_names<DatePart>()),
                     dates.empty() ? std::string("an empty list") : in_quotes(*bad)));
}

void Conflicts::check_targets() {
  const std::vector<std::string>& targets = config_.data.target;
  for (auto name = targets.begin(); name != targets.end(); ++name) {
    if (std::find(targets.begin(), name, *name) == name) continue;
    report("data.target", fmt::format("duplicate entry {}; remove one", in_quotes(*name)));
  }
  if (targets.size() > 1 && config_.data.task == Task::kClassification) {
    report("data.target", fmt::format("expected one column for data.task: classification, got "
                                      "{}; only regression supports several targets",
                                      targets.size()));
  }
}

// If two keys divide the rows in different ways, one of them would be ignored.
void Conflicts::check_parts() {
  const DataConfig& data = config_.data;
  const auto exclude = [&](const char* key, const char* other) {
    if (is_written(key) && is_written(other) && value_text(key, config_) != "0") {
      report(key,
             fmt::format("conflicts with {}, which already determines it; {}", other, remove(key)),
             either(key, other));
    }
  };
  exclude("data.validation_fraction", "data.validation_path");
  exclude("data.test_fraction", "data.test_path");
  check_time();
  if (data.split_column.empty()) return;
  for (const char* key : {"data.validation_fraction", "data.test_fraction", "data.group",
                          "data.validation_path", "data.test_path"}) {
    exclude(key, "data.split_column");
  }
}

void Conflicts::check_time() {
  const DataConfig& data = config_.data;
  if (data.split != SplitMethod::kChronological) {
    if (!data.time.empty()) {
      report("data.time", "has no effect unless data.split is chronological",
             to({"data.split"}, "data.time"));
    }
    return;
  }
  if (data.time.empty()) {
    report("data.time", "expected a column because data.split is chronological, got nothing");
  }
  for (const char* key : {"data.group", "data.split_column"}) {
    if (!is_changed(key)) continue;
    report(
        "data.split",
        fmt::format("chronological conflicts with {}, which also splits the rows; remove one", key),
        either("data.split", key));
  }
  if (data.repeat > 1) {
    report("data.repeat",
           "conflicts with data.split: chronological, which has only one possible split",
           either("data.repeat", "data.split"));
  }
}

void Conflicts::check_folds() {
  const DataConfig& data = config_.data;
  if (data.folds == 1) {
    report("data.folds", "expected at least 2 folds, or 0 for none, got 1");
  } else if (data.fold > std::max<int64_t>(1, data.folds)) {
    report("data.fold", data.folds == 0 ? "has no effect unless data.folds is set"
                                        : fmt::format("expected at most data.folds ({}), got {}",
                                                      data.folds, data.fold));
  }
  if (data.folds == 0 && data.repeat > 1) {
    report("data.repeat", "has no effect unless data.folds is set");
  }
  check_validation_folds();
  if (data.folds == 0) return;
  for (const char* key : {"data.test_path", "data.split_column", "data.idx.test_images"}) {
    if (!is_written(key)) continue;
    report("data.folds",
           fmt::format("conflicts with {}, which provides the test split; {}", key, remove(key)),
           to({key}, "data.folds"));
  }
}

void Conflicts::check_members() {
  for (const std::string& name : config_.member_recipes) {
    if (from_text<Recipe>(name)) continue;
    report("member_recipes", fmt::format("expected names of {}, got {}",
                                         joined(enum_names<Recipe>(), " or "), in_quotes(name)));
  }
}

void Conflicts::check_validation_folds() {
  const DataConfig& data = config_.data;
  if (data.validation_folds == 1) {
    report("data.validation_folds", "expected at least 2 folds, or 0 for none, got 1");
  } else if (data.validation_fold > std::max<int64_t>(1, data.validation_folds)) {
    report("data.validation_fold",
           data.validation_folds == 0
               ? "has no effect unless data.validation_folds is set"
               : fmt::format("expected at most data.validation_folds ({}), got {}",
                             data.validation_folds, data.validation_fold));
  }
  if (data.validation_folds == 0) return;
  for (const char* key : {"data.validation_path", "data.split_column", "data.time"}) {
    if (!is_written(key)) continue;
    report(
        "data.validation_folds",
        fmt::format("conflicts with {}, which provides the validation split; {}", key, remove(key)),
        to({key}, "data.validation_folds"));
  }
}

void Conflicts::check_idx() {
  if (config_.data.source != Source::kIdx) return;
  const IdxConfig& idx = config_.data.idx;
  require("data.idx.train_images", idx.train_images, "idx");
  require("data.idx.train_labels", idx.train_labels, "idx");
  check_test_pair("data.idx.test_images", idx.test_images, "data.idx.test_labels", idx.test_labels);
}

void Conflicts::check_npy() {
  if (config_.data.source != Source::kNpy) return;
  const NpyConfig& npy = config_.data.npy;
  require("data.npy.features", npy.features, "npy");
  require("data.npy.targets", npy.targets, "npy");
  check_test_pair("data.npy.test_features", npy.test_features, "data.npy.test_targets",
                  npy.test_targets);
}

void Conflicts::check_test_pair(const std::string& key, const std::string& features,
                                const std::string& target_key, const std::string& targets) {
  if (features.empty() != targets.empty()) {
    report(features.empty() ? key : target_key,
           fmt::format("expected a file because {} is set, got nothing",
                       features.empty() ? target_key : key));
  }
  if (!features.empty() && is_written("data.test_fraction") && config_.data.test_fraction > 0) {
    report("data.test_fraction",
           fmt::format("conflicts with {}, which provides the test split; {}", key,
                       remove("data.test_fraction")),
           either("data.test_fraction", key));
  }
}

void Conflicts::check_split() {
  const DataConfig& data = config_.data;
  const bool has_other =
      !data.validation_path.empty() || !data.split_column.empty() || data.validation_folds > 0;
  if (data.validation_fraction + data.test_fraction >= 1) {
    report("data.test_fraction",
           fmt::format("expected validation_fraction + test_fraction < 1, got {:g}",
                       data.validation_fraction + data.test_fraction));
  }
  if (config_.training.early_stopping.patience > 0 && data.validation_fraction == 0 && !has_other) {
    report("training.early_stopping.patience",
           "requires a validation split; set data.validation_fraction above 0");
  }
}

}  // namespace trainer::config
