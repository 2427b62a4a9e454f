// SPDX-License-Identifier: Apache-2.0
#include "cli/threshold_option.h"

#include <fmt/format.h>

#include "trainer/apply/evaluate.h"
#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/metrics/score.h"

namespace trainer::cli {

namespace {

constexpr std::string_view kAuto = "auto:";

std::vector<std::string> auto_words() {
  std::vector<std::string> words;
  for (const std::string& name : enum_names<metrics::DecisionMetric>()) {
    words.push_back(fmt::format("{}{}", kAuto, name));
  }
  return words;
}

}  // namespace

Option threshold_option(ThresholdOption& threshold) {
  return {"--threshold", &threshold.text, "VALUE",
          "Of two classes: predict the second if its probability is above this (default: 0.5); "
          "auto:f1, or another of accuracy, balanced_accuracy and binary_f1, chooses the best on "
          "the validation split",
          auto_words()};
}

void check_threshold(ThresholdOption& threshold, Problems& problems) {
  if (threshold.text.empty()) return;
  if (threshold.text.starts_with(kAuto)) {
    threshold.metric = from_text<metrics::DecisionMetric>(threshold.text.substr(kAuto.size()));
    if (threshold.metric) return;
  } else if (const auto number = parse_double(threshold.text);
             number && *number > 0 && *number < 1) {
    threshold.number = *number;
    return;
  }
  problems.push_back(fmt::format(
      "--threshold: expected a number between 0 and 1, or auto: with {}, got {}",
      joined(enum_names<metrics::DecisionMetric>(), " or "), in_quotes(threshold.text)));
}

std::string apply_threshold(const ThresholdOption& threshold, apply::Model& model,
                            int64_t num_threads) {
  if (threshold.text.empty()) return "";
  if (model.schema.labels.size() != 2) {
    throw Error(ErrorKind::kUsage, fmt::format("--threshold: {} is not a model of two classes; "
                                               "remove this option",
                                               model.file.string()));
  }
  if (!threshold.metric) {
    model.threshold = threshold.number;
    return shortest(threshold.number);
  }
  const metrics::ThresholdChoice choice =
      apply::find_threshold(model, *threshold.metric, num_threads);
  model.threshold = choice.threshold;
  const std::string& name = to_text(*threshold.metric);
  return fmt::format("{:.4g} ({} {} on the validation split)", choice.threshold,
                     metrics::shown_name(name), metrics::score_text({name, choice.value}));
}

}  // namespace trainer::cli
