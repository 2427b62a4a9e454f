// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "trainer/base/text/enum_names.h"

/// The enumerations of the configuration and their names, for code that does not need the whole
/// configuration.
namespace trainer::config {

enum class Recipe { kPlain, kRealmlp, kTabm, kLinear };
enum class Source { kSynthetic, kCsv, kIdx, kNpy, kQuery };
enum class Task { kAuto, kClassification, kRegression };
enum class ScalingMethod { kNone, kStandard, kMinMax, kRobust, kQuantile, kQuantileNormal };
enum class BinaryEncoding { kOneHot, kSign };
enum class ClassWeights { kNone, kBalanced };
enum class Imputation { kMean, kMedian, kConstant, kError };
enum class UnknownCategory { kUnknown, kError };
enum class Outliers { kWarn, kClip, kIgnore };
enum class DateOrder { kAuto, kYearFirst, kDayFirst, kMonthFirst };
enum class QueryFiles { kAny, kOnlyNamed };
enum class DatePart { kYear, kMonth, kDayOfWeek, kHour, kSeconds };
enum class FitOn { kTrain, kTrainAndValidation, kAll };
enum class SplitMethod { kRandom, kChronological };
enum class Architecture { kMlp };
enum class Activation { kRelu, kGelu, kSilu, kTanh, kSelu, kMish };
enum class Norm { kNone, kBatch, kLayer };
enum class Init { kPytorch, kKaiming, kXavier, kGpt2, kNtk, kData, kRidge };
enum class Parametrization { kStandard, kNtk };
enum class NumericEmbedding { kNone, kPeriodic, kPiecewiseLinear };
enum class Loss { kAuto, kCrossEntropy, kBinaryCrossEntropy, kMse, kL1, kHuber };
enum class StepKind { kAuto, kAutograd, kFused };
enum class BestMetric {
  kLoss,
  kLogLoss,
  kCalibratedLogLoss,
  kAccuracy,
  kBalancedAccuracy,
  kF1,
  kBinaryF1,
  kAuroc,
  kPrAuc,
  kMae,
  kRmse,
  kMape,
  kR2
};
enum class BestTies { kFirst, kLast };
enum class OnNonFinite { kStop, kSkip, kRollback };
enum class OptimizerName { kSgd, kAdam, kAdamw, kRmsprop };
enum class ScheduleName {
  kConstant,
  kLinear,
  kCosine,
  kStep,
  kOneCycle,
  kReduceOnPlateau,
  kCoslog
};
enum class FactorSchedule { kConstant, kFlatCosine };
enum class Precision { kFp32, kFp16, kBf16 };
enum class OnOutOfMemory { kSplit, kFallbackCpu, kStop };
enum class CudaGraphs { kAuto, kOff };

}  // namespace trainer::config

namespace trainer {

#define TRAINER_NAMED(Enum) \
  template <>               \
  std::span<const std::string> enum_names<Enum>()

TRAINER_NAMED(config::Recipe);
TRAINER_NAMED(config::Source);
TRAINER_NAMED(config::Task);
TRAINER_NAMED(config::ScalingMethod);
TRAINER_NAMED(config::BinaryEncoding);
TRAINER_NAMED(config::ClassWeights);
TRAINER_NAMED(config::Imputation);
TRAINER_NAMED(config::UnknownCategory);
TRAINER_NAMED(config::Outliers);
TRAINER_NAMED(config::DateOrder);
TRAINER_NAMED(config::QueryFiles);
TRAINER_NAMED(config::DatePart);
TRAINER_NAMED(config::FitOn);
TRAINER_NAMED(config::SplitMethod);
TRAINER_NAMED(config::Architecture);
TRAINER_NAMED(config::Activation);
TRAINER_NAMED(config::Norm);
TRAINER_NAMED(config::Init);
TRAINER_NAMED(config::Parametrization);
TRAINER_NAMED(config::NumericEmbedding);
TRAINER_NAMED(config::Loss);
TRAINER_NAMED(config::StepKind);
TRAINER_NAMED(config::BestMetric);
TRAINER_NAMED(config::BestTies);
TRAINER_NAMED(config::OnNonFinite);
TRAINER_NAMED(config::OptimizerName);
TRAINER_NAMED(config::ScheduleName);
TRAINER_NAMED(config::FactorSchedule);
TRAINER_NAMED(config::Precision);
TRAINER_NAMED(config::OnOutOfMemory);
TRAINER_NAMED(config::CudaGraphs);

#undef TRAINER_NAMED

}  // namespace trainer

namespace trainer::config {

using trainer::enum_names;
using trainer::from_text;
using trainer::to_text;

/// Returns the loss that `auto` means for `task`; any other loss is returned unchanged.
Loss loss_for(Loss loss, Task task);

/// Returns whether the loss is for classification; false for kAuto.
bool is_for_classes(Loss loss);

/// Returns whether the loss is for regression; false for kAuto.
bool is_for_regression(Loss loss);

/// Returns whether `metric` is defined for `task`. For kAuto, which may become either task, all
/// are.
bool fits_task(BestMetric metric, Task task);

/// Returns whether larger values of the metric are better.
bool is_better_when_larger(BestMetric metric);

}  // namespace trainer::config
