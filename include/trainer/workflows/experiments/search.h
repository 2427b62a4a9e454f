// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/apply/evaluate.h"
#include "trainer/base/text/document.h"
#include "trainer/config/types.h"
#include "trainer/workflows/experiments/runs.h"

namespace trainer::experiments {

/// A key and the text of its range: "training.learning_rate", "log(1e-4,1e-1)".
struct SpaceKey {
  std::string key;
  std::string range;
  bool operator==(const SpaceKey&) const = default;
};

/// What trials of a recipe draw.
struct RecipeSpace {
  config::Recipe recipe = {};
  std::vector<SpaceKey> keys;
};

/// Whether a value on the command line is a range and not a value: "int(1,4)".
bool is_range(const std::string& value);

/// A configuration that is tried, and what came of it.
struct Trial {
  int64_t number = 0;  // from 1; the first is the configuration as it is
  config::Recipe recipe = {};
  std::vector<config::Override> settings = {};  // in which it differs from that
  std::vector<std::string> runs = {};           // names of the run folders of its folds
  std::optional<double> loss = {};              // of all out-of-fold rows; none: stopped or failed
  std::optional<double> first_loss = {};        // of the first fold; infinite if it is no number
  double time_seconds = 0;
  double weight = 0;         // in the ensemble
  std::string problem = {};  // why it has no loss
};

/// The share of the variance of the losses of trials that a key explains: 0 nothing, 1 all.
struct KeyImportance {
  config::Recipe recipe = {};
  std::string key;
  double share = 0;
};

/// What a search may take, all of its starts together; 0: no limit.
struct SearchLimits {
  double seconds = 0;
  int64_t trials = 0;
  int64_t members = 0;  // networks of the ensemble
};

/// What a search has beside a series of runs.
struct SearchRequest : SeriesRequest {
  std::vector<SpaceKey> space = {};  // empty: the usual keys, or as in the resumed search
  /// Trials take them in turn, the first ones without other settings; empty: as configured.
  std::vector<config::Recipe> recipes = {};
  /// Without seconds and trials, both are those of the resumed search, or 10 minutes; without
  /// members, they are those of the resumed search.
  SearchLimits limits = {};
  int64_t num_folds = 0;  // 0: 5 (1 if the configuration names validation rows), or as resumed
  /// Called after each trial with what is known of it, the loss of the ensemble so far, and how
  /// much time is left (0 without a limit).
  std::function<void(const Trial&, double ensemble_loss, double seconds_left)> on_trial = {};
};

/// The trials of a search and the ensemble that was made of them.
struct SearchReport : SeriesReport {
  std::string metric;         // "log loss", or "RMSE" in deviations of the target
  std::vector<Trial> trials;  // by number
  double ensemble_loss = 0;   // of out-of-fold rows, by which the weights were chosen
  double expected_loss = 0;   // the same if each fold has the weights that the others chose
  int64_t num_members = 0;
  std::vector<KeyImportance> importance;  // of each recipe, if trials are enough
  /// Of the ensemble: the test split, on which nothing was chosen, or without one the rows by which
  /// the weights were chosen; nothing for a search that was stopped.
  std::optional<apply::EvaluationResult> result = {};
  /// For people and as JSON: {"folder", "metric", "trials", "importance", "loss", "expected_loss",
  /// "members"}, and the metrics of `result` by the name of its split.
  Document document() const;
};

/// Returns what search() would draw from, in the order of the recipes, without those that are tried
/// once. Writes nothing; throws what is wrong with the request, as search() does.
std::vector<RecipeSpace> search_spaces(const SearchRequest& request);

/// Trains configurations of a space, each as an ensemble whose members validate on one fold of the
/// rows each, and makes one ensemble of them. After each trial the weights of the configurations
/// are chosen again (choose_weights()), and ensemble.json is replaced in one step, so that the
/// folder is a model at any time once the first trial is complete. Trials of several recipes share
/// the preprocessing of the first. A trial that is worse than the median on its first fold ends
/// there; one that fails is counted and left out, except for the first. Ends when less time is left
/// than a trial takes on average. Trial i is a function of the seed and i, so a search that is
/// resumed goes on with the same trials, and so do the ranks of a launcher or several processes
/// that share the runs. Throws Error(kUsage) for a wrong space or a configuration without
/// validation rows, Error(kCheckpoint) for a folder that is not of a search or of one with another
/// space, and the errors of train_ensemble().
SearchReport search(const SearchRequest& request);

}  // namespace trainer::experiments
