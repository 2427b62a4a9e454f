// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "trainer/core/enum_names.h"

/// The choices of a configuration and how they are written, without the whole configuration.
namespace trainer::config {

enum class Recipe { kPlain, kRealmlp, kTabm };
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
enum class Init { kPytorch, kKaiming, kXavier, kGpt2, kNtk, kData };
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

template <>
std::span<const std::string> enum_names<config::Recipe>();
template <>
std::span<const std::string> enum_names<config::Source>();
template <>
std::span<const std::string> enum_names<config::Task>();
template <>
std::span<const std::string> enum_names<config::ScalingMethod>();
template <>
std::span<const std::string> enum_names<config::BinaryEncoding>();
template <>
std::span<const std::string> enum_names<config::ClassWeights>();
template <>
std::span<const std::string> enum_names<config::Imputation>();
template <>
std::span<const std::string> enum_names<config::UnknownCategory>();
template <>
std::span<const std::string> enum_names<config::Outliers>();
template <>
std::span<const std::string> enum_names<config::DateOrder>();
template <>
std::span<const std::string> enum_names<config::QueryFiles>();
template <>
std::span<const std::string> enum_names<config::DatePart>();
template <>
std::span<const std::string> enum_names<config::FitOn>();
template <>
std::span<const std::string> enum_names<config::SplitMethod>();
template <>
std::span<const std::string> enum_names<config::Architecture>();
template <>
std::span<const std::string> enum_names<config::Activation>();
template <>
std::span<const std::string> enum_names<config::Norm>();
template <>
std::span<const std::string> enum_names<config::Init>();
template <>
std::span<const std::string> enum_names<config::Parametrization>();
template <>
std::span<const std::string> enum_names<config::NumericEmbedding>();
template <>
std::span<const std::string> enum_names<config::Loss>();
template <>
std::span<const std::string> enum_names<config::StepKind>();
template <>
std::span<const std::string> enum_names<config::BestMetric>();
template <>
std::span<const std::string> enum_names<config::BestTies>();
template <>
std::span<const std::string> enum_names<config::OnNonFinite>();
template <>
std::span<const std::string> enum_names<config::OptimizerName>();
template <>
std::span<const std::string> enum_names<config::ScheduleName>();
template <>
std::span<const std::string> enum_names<config::FactorSchedule>();
template <>
std::span<const std::string> enum_names<config::Precision>();
template <>
std::span<const std::string> enum_names<config::OnOutOfMemory>();
template <>
std::span<const std::string> enum_names<config::CudaGraphs>();

}  // namespace trainer

namespace trainer::config {

using trainer::enum_names;
using trainer::from_text;
using trainer::to_text;

/// What training.loss `auto` means for `task`; other losses are themselves.
Loss loss_for(Loss loss, Task task);

/// Whether it is a loss of classification; kAuto is not.
bool is_for_classes(Loss loss);

/// Whether it is a loss of regression; kAuto is not.
bool is_for_regression(Loss loss);

/// Whether training.best_metric is defined for `task`.
bool fits_task(BestMetric metric, Task task);

/// Whether larger values of the metric are better.
bool is_better_when_larger(BestMetric metric);

}  // namespace trainer::config
