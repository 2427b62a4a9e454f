// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace trainer::metrics {

/// A number under its name in metrics.jsonl: accuracy, f1 (macro_f1()), auroc, top_5_accuracy (of
/// more than five classes); mae, rmse and r2 (means over the targets, in the units of the file).
struct Score {
  std::string name;
  double value = 0;
};

/// The value of `name`, or nothing.
std::optional<double> find_score(const std::vector<Score>& scores, const std::string& name);

/// How people read a score: "97.78 %" for parts of the rows, else four digits.
std::string score_text(const Score& score);

}  // namespace trainer::metrics
