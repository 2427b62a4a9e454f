// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/types.h"

// The names of an enumeration, in the order of its values.
#define TRAINER_NAMES(Enum, ...)                       \
  template <>                                          \
  std::span<const std::string> names_of<Enum>() {      \
    static const std::string kNames[] = {__VA_ARGS__}; \
    return kNames;                                     \
  }

namespace trainer::config {

TRAINER_NAMES(Source, "synthetic", "csv", "idx", "npy")
TRAINER_NAMES(Task, "auto", "classification", "regression")
TRAINER_NAMES(ScalingMethod, "none", "standard", "minmax", "robust", "quantile")
TRAINER_NAMES(ClassWeights, "none", "balanced")
TRAINER_NAMES(Fill, "mean", "median", "constant", "error")
TRAINER_NAMES(UnknownCategory, "unknown", "error")
TRAINER_NAMES(Outliers, "warn", "clip", "ignore")
TRAINER_NAMES(SplitMethod, "random", "chronological")
TRAINER_NAMES(Architecture, "mlp")
TRAINER_NAMES(Activation, "relu", "gelu", "silu", "tanh")
TRAINER_NAMES(Norm, "none", "batch", "layer")
TRAINER_NAMES(Init, "pytorch", "kaiming", "xavier", "gpt2")
TRAINER_NAMES(Loss, "auto", "cross_entropy", "binary_cross_entropy", "mse", "l1", "huber")
TRAINER_NAMES(StepKind, "auto", "autograd", "fused")
TRAINER_NAMES(BestMetric, "loss", "log_loss", "accuracy", "balanced_accuracy", "f1", "binary_f1",
              "auroc", "pr_auc", "mae", "rmse", "mape", "r2")
TRAINER_NAMES(OnNonFinite, "stop", "skip", "rollback")
TRAINER_NAMES(OptimizerName, "sgd", "adam", "adamw")
TRAINER_NAMES(ScheduleName, "constant", "linear", "cosine", "step", "one_cycle",
              "reduce_on_plateau")
TRAINER_NAMES(Precision, "fp32", "fp16", "bf16")
TRAINER_NAMES(OnOutOfMemory, "split", "fallback_cpu", "stop")
TRAINER_NAMES(LogLevel, "debug", "info", "warning", "error")

Loss loss_for(Loss loss, Task task) {
  if (loss != Loss::kAuto) return loss;
  return task == Task::kRegression ? Loss::kMse : Loss::kCrossEntropy;
}

bool is_for_classes(Loss loss) {
  return loss == Loss::kCrossEntropy || loss == Loss::kBinaryCrossEntropy;
}

bool is_for_regression(Loss loss) { return loss != Loss::kAuto && !is_for_classes(loss); }

bool fits_task(BestMetric metric, Task task) {
  switch (metric) {
    case BestMetric::kLoss:
      return true;
    case BestMetric::kLogLoss:
    case BestMetric::kAccuracy:
    case BestMetric::kBalancedAccuracy:
    case BestMetric::kF1:
    case BestMetric::kBinaryF1:
    case BestMetric::kAuroc:
    case BestMetric::kPrAuc:
      return task != Task::kRegression;
    case BestMetric::kMae:
    case BestMetric::kRmse:
    case BestMetric::kMape:
    case BestMetric::kR2:
      break;
  }
  return task != Task::kClassification;
}

bool is_better_when_larger(BestMetric metric) {
  switch (metric) {
    case BestMetric::kLoss:
    case BestMetric::kLogLoss:
    case BestMetric::kMae:
    case BestMetric::kRmse:
    case BestMetric::kMape:
      return false;
    default:
      return true;
  }
}

}  // namespace trainer::config
