// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include <fmt/format.h>

#include "trainer/config/fields.h"
#include "trainer/config/load.h"
#include "trainer/core/format.h"

#include "config/field_makers.h"

namespace trainer::config {
namespace {

/// Collects the problems of combinations; each rule names the key that the user would change.
class Conflicts {
 public:
  explicit Conflicts(const Loaded& loaded) : loaded_(loaded), config_(loaded.config) {}

  std::vector<std::string> find() {
    if (config_.output_dir.empty()) {
      report("output_dir", "expected a folder, got nothing; use . for the working directory");
    }
    check_source();
    check_csv();
    check_idx();
    check_npy();
    check_split();
    check_folds();
    check_model();
    check_training();
    check_schedule();
    return std::move(problems_);
  }

 private:
  // What has no effect harms nobody where it says what is so anyway.
  bool is_changed(const std::string& key) const {
    static const Config kDefaults;
    return value_text(key, config_) != value_text(key, kDefaults);
  }

  // Of two answers to one question both count, be one the default.
  bool is_written(const std::string& key) const {
    const std::string value = value_text(key, config_);
    return loaded_.origins.contains(key) && value != "\"\"" && value != "[]";
  }

  // Nothing can be removed on a command line.
  static std::string remove(const std::string& key) {
    return fmt::format("remove one, or unset it with {}=null", key);
  }

  void report(const std::string& key, const std::string& problem) {
    const bool is_default = !loaded_.origins.contains(key);
    const std::string origin = is_default ? "" : origin_of(loaded_, key) + ": ";
    problems_.push_back(fmt::format("{}{}: {}", origin, key, problem));
  }

  // A file named but not used would be a run on other data than the user believes.
  void check_source() {
    const auto& data = config_.data;
    for (const char* key : {"data.path",
                            "data.target",
                            "data.delimiter",
                            "data.decimal",
                            "data.missing",
                            "data.drop_rows_without_target",
                            "data.ignore",
                            "data.id",
                            "data.numeric",
                            "data.categorical",
                            "data.max_categories",
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
                            "data.time"}) {
      if (is_changed(key) && data.source != Source::kCsv) {
        report(key, "has no effect unless data.source is csv; set data.source: csv");
      }
    }
    if (data.scaling == ScalingMethod::kQuantile && data.source != Source::kCsv) {
      report("data.scaling", fmt::format("quantile scaling is only supported for CSV files, not "
                                         "for data.source: {}; use robust",
                                         value_text("data.source", config_)));
    }
    const auto need_source = [&](const std::string& name, Source source,
                                 std::initializer_list<const char*> keys) {
      for (const char* last : keys) {
        const std::string key = fmt::format("data.{}.{}", name, last);
        if (!is_changed(key) || data.source == source) continue;
        report(key, fmt::format("has no effect unless data.source is {}; set data.source: {}", name,
                                name));
      }
    };
    need_source("idx", Source::kIdx,
                {"train_images", "train_labels", "test_images", "test_labels"});
    need_source("npy", Source::kNpy, {"features", "targets", "test_features", "test_targets"});
  }

  void require(const std::string& key, const std::string& value, const std::string& source) {
    if (value.empty()) {
      report(key, fmt::format("expected a value because data.source is {}, got nothing", source));
    }
  }

  void check_csv() {
    if (config_.data.source != Source::kCsv) return;
    require("data.path", config_.data.path, "csv");
    require("data.target", fmt::format("{}", fmt::join(config_.data.target, "")), "csv");
    check_targets();
    const std::string& delimiter = config_.data.delimiter;
    if (config_.data.decimal == "," && (delimiter == "comma" || delimiter == ",")) {
      report("data.decimal",
             "conflicts with data.delimiter, which is also a comma; change one of them");
    }
    if (is_changed("data.fill_value") && config_.data.fill != Imputation::kConstant) {
      report("data.fill_value", "has no effect unless data.fill is constant");
    }
    check_parts();
  }

  void check_targets() {
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

  // Two ways to divide the rows would be one that is not followed.
  void check_parts() {
    const DataConfig& data = config_.data;
    const auto exclude = [&](const char* key, const char* other) {
      if (is_written(key) && is_written(other) && value_text(key, config_) != "0") {
        report(key, fmt::format("conflicts with {}, which already determines it; {}", other,
                                remove(key)));
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

  void check_time() {
    const DataConfig& data = config_.data;
    if (data.split != SplitMethod::kChronological) {
      if (!data.time.empty()) {
        report("data.time", "has no effect unless data.split is chronological");
      }
      return;
    }
    if (data.time.empty()) {
      report("data.time", "expected a column because data.split is chronological, got nothing");
    }
    for (const char* key : {"data.group", "data.split_column"}) {
      if (!is_changed(key)) continue;
      report("data.split",
             fmt::format("chronological conflicts with {}, which also splits the rows; remove one",
                         key));
    }
    if (data.repeat > 1) {
      report("data.repeat",
             "conflicts with data.split: chronological, which has only one possible split");
    }
  }

  void check_folds() {
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
    if (data.folds == 0) return;
    for (const char* key : {"data.test_path", "data.split_column", "data.idx.test_images"}) {
      if (!is_written(key)) continue;
      report("data.folds",
             fmt::format("conflicts with {}, which provides the test split; {}", key, remove(key)));
    }
  }

  void check_idx() {
    if (config_.data.source != Source::kIdx) return;
    const IdxConfig& idx = config_.data.idx;
    require("data.idx.train_images", idx.train_images, "idx");
    require("data.idx.train_labels", idx.train_labels, "idx");
    check_test_pair("data.idx.test_images", idx.test_images, "data.idx.test_labels",
                    idx.test_labels);
  }

  void check_npy() {
    if (config_.data.source != Source::kNpy) return;
    const NpyConfig& npy = config_.data.npy;
    require("data.npy.features", npy.features, "npy");
    require("data.npy.targets", npy.targets, "npy");
    check_test_pair("data.npy.test_features", npy.test_features, "data.npy.test_targets",
                    npy.test_targets);
  }

  void check_test_pair(const std::string& key, const std::string& features,
                       const std::string& target_key, const std::string& targets) {
    if (features.empty() != targets.empty()) {
      report(features.empty() ? key : target_key,
             fmt::format("expected a file because {} is set, got nothing",
                         features.empty() ? target_key : key));
    }
    if (!features.empty() && is_written("data.test_fraction") && config_.data.test_fraction > 0) {
      report("data.test_fraction",
             fmt::format("conflicts with {}, which provides the test split; {}", key,
                         remove("data.test_fraction")));
    }
  }

  void check_split() {
    const DataConfig& data = config_.data;
    const bool has_other = !data.validation_path.empty() || !data.split_column.empty();
    if (data.validation_fraction + data.test_fraction >= 1) {
      report("data.test_fraction",
             fmt::format("expected validation_fraction + test_fraction < 1, got {:g}",
                         data.validation_fraction + data.test_fraction));
    }
    if (config_.training.early_stopping.patience > 0 && data.validation_fraction == 0 &&
        !has_other) {
      report("training.early_stopping.patience",
             "requires a validation split; set data.validation_fraction above 0");
    }
  }

  void check_model() {
    const ModelConfig& model = config_.model;
    if (!model.hidden_sizes.empty()) {
      for (const char* key : {"model.hidden_size", "model.num_layers"}) {
        if (is_written(key)) report(key, "conflicts with model.hidden_sizes; " + remove(key));
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
    if (model.activation_checkpointing && config_.training.step == StepKind::kFused) {
      report("model.activation_checkpointing",
             "conflicts with training.step: fused, which keeps all activations; set training.step: "
             "auto");
    }
  }

  void check_training() {
    const TrainingConfig& training = config_.training;
    const OptimizerConfig& optimizer = training.optimizer;
    if (optimizer.nesterov && optimizer.name != OptimizerName::kSgd) {
      report("training.optimizer.nesterov", "requires training.optimizer.name: sgd");
    } else if (optimizer.nesterov && optimizer.momentum == 0) {
      report("training.optimizer.nesterov", "requires training.optimizer.momentum above 0");
    }
    check_loss();
    check_of_task();
  }

  bool is_regression() const {
    return config_.data.task == Task::kRegression || is_for_regression(config_.training.loss);
  }

  void check_loss() {
    const TrainingConfig& training = config_.training;
    const Task task = config_.data.task;
    if (is_for_regression(training.loss) && task == Task::kClassification) {
      report("training.loss",
             fmt::format("{} requires data.task: regression", to_text(config_.training.loss)));
    }
    if (is_for_classes(training.loss) && task == Task::kRegression) {
      report("training.loss",
             fmt::format("{} requires data.task: classification", to_text(config_.training.loss)));
    }
    if (training.label_smoothing > 0 && is_regression()) {
      report("training.label_smoothing", "only applies to cross-entropy; remove it for regression");
    } else if (training.label_smoothing > 0 && training.loss == Loss::kBinaryCrossEntropy) {
      report("training.label_smoothing",
             "only supported for training.loss: cross_entropy, which also works for two classes");
    }
    if (is_changed("training.huber_delta") && training.loss != Loss::kHuber) {
      report("training.huber_delta", "has no effect unless training.loss is huber");
    }
  }

  // What is for classes, or for numbers.
  void check_of_task() {
    const TrainingConfig& training = config_.training;
    const Task task = config_.data.task;
    const bool regression = is_regression();
    if (config_.data.class_weights != ClassWeights::kNone && regression) {
      report("data.class_weights", "only applies to classification; remove it for regression");
    }
    if (is_changed("data.target_scaling") &&
        (task == Task::kClassification || is_for_classes(training.loss))) {
      report("data.target_scaling", "only applies to regression; remove it for classification");
    }
    if (!fits_task(training.best_metric, regression ? Task::kRegression : task)) {
      report("training.best_metric", fmt::format("{} is not defined for {}; use loss",
                                                 to_text(config_.training.best_metric),
                                                 regression ? "regression" : "classification"));
    }
  }

  void check_schedule() {
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
             "training.schedule.rise_fraction instead");
    }
    check_schedule_key("final_factor", {Name::kLinear, Name::kCosine, Name::kOneCycle});
    check_schedule_key("step_epochs", {Name::kStep});
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

  // A key of other schedules than the one that is chosen would change nothing.
  void check_schedule_key(const std::string& leaf, const std::vector<ScheduleName>& of) {
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
           fmt::format("has no effect unless training.schedule.name is {}", joined(names, " or ")));
  }

  const Loaded& loaded_;
  const Config& config_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> find_conflicts(const Loaded& loaded) { return Conflicts(loaded).find(); }

}  // namespace trainer::config
