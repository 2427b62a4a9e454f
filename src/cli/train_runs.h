// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "trainer/config/types.h"
#include "trainer/metrics/folds.h"
#include "trainer/workflows/experiments/ensemble.h"
#include "trainer/workflows/experiments/runs.h"
#include "trainer/workflows/experiments/search.h"

#include "cli/common_options.h"

namespace trainer::cli {

/// Returns the result of a series, the JSON text `json`, with the folder that it was written to.
nlohmann::ordered_json with_folder(const std::filesystem::path& folder, const std::string& json);

/// Returns the series of runs that the options name. Its runs are trained one at a time, with a
/// progress that says how far the series is. Unless --verbose is given, the console shows only
/// warnings and errors of the runs; all messages are in their train.log. `common` must outlive it.
experiments::SeriesRequest series_request(const CommonOptions& common);

/// Returns the ensemble that the options name; each member is logged when it is complete.
experiments::EnsembleRequest ensemble_request(const CommonOptions& common);

/// Returns a search for so many seconds (0: no limit) with the options; trials that change
/// something are logged, and others now and then. `common` must outlive it.
experiments::SearchRequest search_request(const CommonOptions& common,
                                          const experiments::SearchLimits& limits);

/// Returns what the metrics of an ensemble, which has some, are called. Out of fold they are those
/// of single members; all together are better.
std::string shown_split(const apply::EvaluationResult& result);

/// Parses the value of --recipes, such as "realmlp,tabm", into `recipes`. Adds a problem for a name
/// of none.
void parse_recipes(const std::string& names, std::vector<config::Recipe>& recipes,
                   Problems& problems);

/// Says how to resume a series of `command` that a signal stopped, and returns the exit code.
int end_stopped(const experiments::SeriesReport& report, std::string_view command);

/// Logs the result of a fold with the scores that fit into a line. `name` is that of its run.
void show_fold(const metrics::FoldResult& result, const std::string& name);

/// Returns `path` relative to the working directory if it lies inside, else the whole path.
std::string short_path(const std::filesystem::path& path);

}  // namespace trainer::cli
