// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The choices of a configuration and how they are written. What needs a choice includes this, and
/// not the whole configuration.
namespace trainer::config {

enum class Source { kSynthetic, kCsv, kIdx, kNpy };
enum class Task { kAuto, kClassification, kRegression };
enum class ScalingMethod { kNone, kStandard, kMinMax, kRobust, kQuantile };
enum class ClassWeights { kNone, kBalanced };
enum class Fill { kMean, kMedian, kConstant, kError };
enum class UnknownCategory { kUnknown, kError };
enum class Outliers { kWarn, kClip, kIgnore };
enum class SplitMethod { kRandom, kChronological };
enum class Architecture { kMlp };
enum class Activation { kRelu, kGelu, kSilu, kTanh };
enum class Norm { kNone, kBatch, kLayer };
enum class Init { kPytorch, kKaiming, kXavier, kGpt2 };
enum class Loss { kAuto, kCrossEntropy, kBinaryCrossEntropy, kMse, kL1, kHuber };
enum class StepKind { kAuto, kAutograd, kFused };
enum class BestMetric {
  kLoss,
  kLogLoss,
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
enum class OnNonFinite { kStop, kSkip, kRollback };
enum class OptimizerName { kSgd, kAdam, kAdamw };
enum class ScheduleName { kConstant, kLinear, kCosine, kStep, kOneCycle, kReduceOnPlateau };
enum class Precision { kFp32, kFp16, kBf16 };
enum class OnOutOfMemory { kSplit, kFallbackCpu, kStop };
enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// How a configuration writes the values of an enumeration, in their order.
template <typename Enum>
std::span<const std::string> names_of();
template <>
std::span<const std::string> names_of<Source>();
template <>
std::span<const std::string> names_of<Task>();
template <>
std::span<const std::string> names_of<ScalingMethod>();
template <>
std::span<const std::string> names_of<ClassWeights>();
template <>
std::span<const std::string> names_of<Fill>();
template <>
std::span<const std::string> names_of<UnknownCategory>();
template <>
std::span<const std::string> names_of<Outliers>();
template <>
std::span<const std::string> names_of<SplitMethod>();
template <>
std::span<const std::string> names_of<Architecture>();
template <>
std::span<const std::string> names_of<Activation>();
template <>
std::span<const std::string> names_of<Norm>();
template <>
std::span<const std::string> names_of<Init>();
template <>
std::span<const std::string> names_of<Loss>();
template <>
std::span<const std::string> names_of<StepKind>();
template <>
std::span<const std::string> names_of<BestMetric>();
template <>
std::span<const std::string> names_of<OnNonFinite>();
template <>
std::span<const std::string> names_of<OptimizerName>();
template <>
std::span<const std::string> names_of<ScheduleName>();
template <>
std::span<const std::string> names_of<Precision>();
template <>
std::span<const std::string> names_of<OnOutOfMemory>();
template <>
std::span<const std::string> names_of<LogLevel>();

/// "cross_entropy" of Loss::kCrossEntropy.
template <typename Enum>
const std::string& to_text(Enum value) {
  return names_of<Enum>()[static_cast<std::size_t>(value)];
}

/// The value that is written `text`, or nothing.
template <typename Enum>
std::optional<Enum> from_text(std::string_view text) {
  const std::span<const std::string> names = names_of<Enum>();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

/// What training.loss `auto` means for `task`; other losses are themselves.
Loss loss_for(Loss loss, Task task);
bool is_for_classes(Loss loss);
bool is_for_regression(Loss loss);

/// Whether training.best_metric can be had of `task`, and how good values compare.
bool fits_task(BestMetric metric, Task task);
bool is_better_when_larger(BestMetric metric);

}  // namespace trainer::config
