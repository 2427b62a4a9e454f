// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/train/fit.h"

namespace trainer::train {

bool is_classification(const Session& session);

/// Whether the run fits a temperature to its validation split (training.calibrate).
bool is_calibrated(const Session& session);

/// Restarts the clocks of the epoch and of the logging interval.
void restart_clocks(const Session& session, Output& output);

/// Appends the record of a logging interval. Returns its mean loss; if all its steps were skipped,
/// appends nothing and returns NaN.
double record_steps(const Session& session, const checkpoint::Totals& totals, Output& output);

/// Appends the record of the current epoch, whose intervals must all be finished.
run::MetricsRecord record_epoch(const Session& session, Output& output);

/// Adds histograms of weights and gradients to the event file, if there is one.
void add_histograms(const Session& session, Output& output);

/// Adds the confusion matrix of an evaluation of `rows` to the event file, if there is one.
void add_confusion(const Session& session, const Evaluation& evaluation, const data::Dataset& rows,
                   const char* split, Output& output);

/// Appends the record of an evaluation; `position` is where in the run the weights come from.
run::MetricsRecord record_evaluation(const Session& session, const Evaluation& evaluation,
                                     const char* split, const checkpoint::Position& position,
                                     Output& output);

/// Computes all metrics of an evaluation of `rows`.
metrics::Report make_report(const Session& session, const Evaluation& evaluation,
                            const data::Dataset& rows);

/// The metrics of a record: loss, accuracy if it has one, and all other scores.
std::vector<metrics::Score> scores_of(const run::MetricsRecord& record);

/// The scores for the log line of an epoch, such as "val loss 0.0539 acc  97.78 %", or
/// "val acc  97.78 % log loss 0.0502" where another metric `decides` which epoch is the best.
std::string score_text(const run::MetricsRecord& record, config::BestMetric decides);

}  // namespace trainer::train
