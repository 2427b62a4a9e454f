// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace trainer::metrics {

/// A number under its name in metrics.jsonl: accuracy, balanced_accuracy, f1 (macro_f1()),
/// binary_f1 (of the second of two classes), top_5_accuracy (of more than five classes), auroc,
/// pr_auc, log_loss, calibrated_log_loss (with the best temperature), brier, ece; mae, rmse, mape
/// and r2 (means over the targets, in the units of the file).
struct Score {
  std::string name;
  double value = 0;

  bool operator==(const Score&) const = default;
};

/// The value of `name`, or nothing.
std::optional<double> find_score(const std::vector<Score>& scores, const std::string& name);

/// {name: value}; what is not finite is null where it is written.
nlohmann::ordered_json scores_json(const std::vector<Score>& scores);

/// Whether that is the name of a score, or "loss".
bool is_score(std::string_view name);

/// Which scores stand together in a text. kHeadline: what people look at first: loss, accuracy, f1,
/// top_5_accuracy, auroc; mae, rmse, mape, r2. kProbabilities: how good probabilities are.
enum class ScoreGroup { kHeadline, kFurther, kProbabilities };

/// The group of the score of that name.
ScoreGroup group_of(std::string_view name);

/// Whether it is of the group kHeadline.
inline bool is_headline(std::string_view name) { return group_of(name) == ScoreGroup::kHeadline; }

/// The name as people read it: "PR-AUC".
std::string shown_name(std::string_view name);

/// How people read a score: "97.78 %" for parts of the rows, else at least four digits; "undefined"
/// for what is no number, and for a mape of targets that are 0.
std::string score_text(const Score& score);

/// A loss as people compare it: "0.0492", and "3.28e+34" where that would be very long.
std::string loss_text(double loss);

/// "97.78 %", and "4e-08 %" where that would be 0.00; 100 % and 0 % are exact.
std::string percent_text(double share);

/// "0.01234", "1.5", "15,390"; an exponent only where nobody could read the digits.
std::string number_text(double value);

/// The scores that a useful model has better than its baseline, and this one has not, as people
/// read their names: of accuracy and log loss, or MAE and RMSE.
std::vector<std::string> not_better(const std::vector<Score>& scores,
                                    const std::vector<Score>& baseline);

}  // namespace trainer::metrics
