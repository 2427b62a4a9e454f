// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trainer/apply/evaluate.h"
#include "trainer/apply/model.h"
#include "trainer/base/text/json.h"
#include "trainer/report/html/report.h"
#include "trainer/run/tracking/run_entry.h"

namespace trainer::report {

/// A model with its outputs for rows that it was not trained on.
struct ModelOutputs {
  apply::Model model;  // of a cross-validation that is no model itself: that of its first fold
  apply::SplitOutputs found;
  std::optional<apply::SplitOutputs> first_fold = {};  // of such a cross-validation

  /// Those of the rows that have features.
  const apply::SplitOutputs& explained() const { return first_fold ? *first_fold : found; }
};

/// What is known of how well a run or series predicts.
struct Findings {
  JsonReader summary;   // summary.json; null without one
  std::string split;    // "test", "validation" or "out-of-fold"; empty: nothing is known
  JsonReader report;    // metrics::to_json() for the rows of the split; null: nothing is known
  std::string problem;  // why there are no outputs; empty: there are, or they are not wanted
  std::optional<ModelOutputs> outputs = {};
};

/// Reads the report in summary.json, of the test split or else of the validation split. With
/// options.evaluates, also predicts the rows, and makes the report from them if there is none.
Findings find_results(const tracking::RunEntry& entry, const ReportOptions& options);

}  // namespace trainer::report
