// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace trainer {
class JsonReader;
}

namespace trainer::metrics {

/// The value of a metric with its name in metrics.jsonl: accuracy, balanced_accuracy, f1
/// (macro_f1()), binary_f1 (for the second of two classes), top_5_accuracy (for more than five
/// classes), auroc, pr_auc, log_loss, calibrated_log_loss (with the best temperature), brier, ece;
/// mae, rmse, mape and r2 (means over the targets, in the units of the file).
struct Score {
  std::string name;
  double value = 0;

  bool operator==(const Score&) const = default;
};

/// Returns the value of the score `name`, or nothing if it is not among them.
std::optional<double> find_score(const std::vector<Score>& scores, const std::string& name);

/// Returns {name: value}. Numbers that are not finite become null when the JSON is written.
nlohmann::ordered_json scores_json(const std::vector<Score>& scores);

/// Returns the scores, and the loss, that `json` has as scores_json() writes them; those that are
/// null are left out.
std::vector<Score> scores_in(const JsonReader& json);

/// Returns the names of all scores and "loss".
std::vector<std::string> score_names();

/// Whether `name` is the name of a score, or "loss".
bool is_score(std::string_view name);

/// The groups in which texts show scores. kHeadline is shown first: loss, accuracy, f1,
/// top_5_accuracy, auroc; mae, rmse, mape, r2. kProbabilities are measures of probabilities: log
/// loss, Brier score, calibration error. kFurther are all others.
enum class ScoreGroup { kHeadline, kFurther, kProbabilities };

/// Returns the group of the score with this name.
ScoreGroup group_of(std::string_view name);

/// Whether the score with this name is in the group kHeadline.
inline bool is_headline(std::string_view name) { return group_of(name) == ScoreGroup::kHeadline; }

/// Returns the name of a score for users, such as "PR-AUC".
std::string shown_name(std::string_view name);

/// Formats a score for users: "97.78 %" for fractions of rows, else at least four digits;
/// "undefined" for NaN, and for a mape of targets that are 0.
std::string score_text(const Score& score);

/// Formats a loss with four decimal places, such as "0.0492"; from 1e6 on as "3.28e+34".
std::string loss_text(double loss);

/// Formats a fraction as a percentage, such as "97.78 %", or "4e-08 %" instead of 0.00. Only exact
/// values are shown as 100 % and 0 %.
std::string percent_text(double share);

/// Formats a number, such as "0.01234", "1.5" or "15,390"; with an exponent only below 1e-4 and
/// from 1e15 on.
std::string number_text(double value);

/// Scores under the name of what they are of, such as "test".
struct ScoreColumn {
  std::string title;
  std::vector<Score> scores;
};

/// Returns the texts of a table for users: the row "metric" with the titles, then a row for each
/// score of `main` that is defined, in the order of the groups, with its value in each column that
/// has it. The loss is the last row, and left out where it is the log loss.
std::vector<std::vector<std::string>> score_rows(const std::vector<Score>& main,
                                                 std::span<const ScoreColumn> columns);

/// Returns the names, for users, of those basic scores in which a model does not beat its baseline:
/// of accuracy and log loss, or MAE and RMSE.
std::vector<std::string> not_better(const std::vector<Score>& scores,
                                    const std::vector<Score>& baseline);

/// The 97.5 % quantile of the normal distribution, for intervals of 95 %.
inline constexpr double kNormalQuantile = 1.959964;

/// An interval that has the value that was estimated with a probability of 95 %.
struct Interval {
  double low = 0;
  double high = 0;
};

/// Returns the interval of a fraction `share` that was found in `num_rows` rows (Wilson, "Probable
/// inference, the law of succession, and statistical inference", 1927).
Interval share_interval(double share, int64_t num_rows);

/// Returns the interval of the mean of `values` by the normal distribution; nothing for fewer than
/// two values.
std::optional<Interval> mean_interval(std::span<const double> values);

/// The outputs of a model for some rows, `[rows, columns]`: a logit per class, or a single logit
/// for the second of two classes; or a number per target.
struct Outputs {
  std::span<const float> values;
  int64_t num_columns = 1;
  /// For two classes: the probability above which the second class is predicted.
  double threshold = 0.5;

  int64_t num_rows() const { return static_cast<int64_t>(values.size()) / num_columns; }
};

}  // namespace trainer::metrics
