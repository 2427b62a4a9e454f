// SPDX-License-Identifier: Apache-2.0
#include "trainer/config/types.h"

#include "trainer/config/distributed_config.h"
#include "trainer/config/logging_config.h"

// Defines the names of an enumeration, in the order of its values.
#define TRAINER_NAMES(Enum, ...)                       \
  template <>                                          \
  std::span<const std::string> enum_names<Enum>() {    \
    static const std::string kNames[] = {__VA_ARGS__}; \
    return kNames;                                     \
  }

namespace trainer {

TRAINER_NAMES(config::Recipe, "plain", "realmlp", "tabm", "linear")
TRAINER_NAMES(config::Source, "synthetic", "csv", "idx", "npy", "query")
TRAINER_NAMES(config::Task, "auto", "classification", "regression")
TRAINER_NAMES(config::ScalingMethod, "none", "standard", "minmax", "robust", "quantile",
              "quantile_normal")
TRAINER_NAMES(config::BinaryEncoding, "one_hot", "sign")
TRAINER_NAMES(config::ClassWeights, "none", "balanced")
TRAINER_NAMES(config::Imputation, "mean", "median", "constant", "error")
TRAINER_NAMES(config::UnknownCategory, "unknown", "error")
TRAINER_NAMES(config::Outliers, "warn", "clip", "ignore")
TRAINER_NAMES(config::DateOrder, "auto", "year_first", "day_first", "month_first")
TRAINER_NAMES(config::QueryFiles, "any", "only_named")
TRAINER_NAMES(config::DatePart, "year", "month", "day_of_week", "hour", "seconds")
TRAINER_NAMES(config::FitOn, "train", "train_and_validation", "all")
TRAINER_NAMES(config::SplitMethod, "random", "chronological")
TRAINER_NAMES(config::Architecture, "mlp")
TRAINER_NAMES(config::Activation, "relu", "gelu", "silu", "tanh", "selu", "mish")
TRAINER_NAMES(config::Norm, "none", "batch", "layer")
TRAINER_NAMES(config::Init, "pytorch", "kaiming", "xavier", "gpt2", "ntk", "data", "ridge")
TRAINER_NAMES(config::Parametrization, "standard", "ntk")
TRAINER_NAMES(config::NumericEmbedding, "none", "periodic", "piecewise_linear")
TRAINER_NAMES(config::Loss, "auto", "cross_entropy", "binary_cross_entropy", "mse", "l1", "huber")
TRAINER_NAMES(config::StepKind, "auto", "autograd", "fused")
TRAINER_NAMES(config::BestMetric, "loss", "log_loss", "calibrated_log_loss", "accuracy",
              "balanced_accuracy", "f1", "binary_f1", "auroc", "pr_auc", "mae", "rmse", "mape",
              "r2")
TRAINER_NAMES(config::BestTies, "first", "last")
TRAINER_NAMES(config::OnNonFinite, "stop", "skip", "rollback")
TRAINER_NAMES(config::OptimizerName, "sgd", "adam", "adamw", "rmsprop")
TRAINER_NAMES(config::ScheduleName, "constant", "linear", "cosine", "step", "one_cycle",
              "reduce_on_plateau", "coslog")
TRAINER_NAMES(config::FactorSchedule, "constant", "flat_cosine")
TRAINER_NAMES(config::Precision, "fp32", "fp16", "bf16")
TRAINER_NAMES(config::OnOutOfMemory, "split", "fallback_cpu", "stop")
TRAINER_NAMES(config::CudaGraphs, "auto", "off")
TRAINER_NAMES(config::LogLevel, "debug", "info", "warning", "error")
TRAINER_NAMES(config::LogFormat, "text", "json", "json_console")
TRAINER_NAMES(config::Distributed, "auto", "off")
TRAINER_NAMES(config::Backend, "auto", "gloo", "nccl")

}  // namespace trainer

namespace trainer::config {

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
    case BestMetric::kCalibratedLogLoss:
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
    case BestMetric::kCalibratedLogLoss:
    case BestMetric::kMae:
    case BestMetric::kRmse:
    case BestMetric::kMape:
      return false;
    case BestMetric::kAccuracy:
    case BestMetric::kBalancedAccuracy:
    case BestMetric::kF1:
    case BestMetric::kBinaryF1:
    case BestMetric::kAuroc:
    case BestMetric::kPrAuc:
    case BestMetric::kR2:
      break;
  }
  return true;
}

}  // namespace trainer::config
