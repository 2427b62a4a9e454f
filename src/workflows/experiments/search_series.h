// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/config/config.h"
#include "trainer/workflows/experiments/cross_validation.h"
#include "trainer/workflows/experiments/search.h"

#include "workflows/experiments/run_series.h"
#include "workflows/experiments/search_space.h"

/// What a search was started with. All of it is a function of the request and of search.json.
namespace trainer::experiments {

inline constexpr const char* kSearchFile = "search.json";

/// A search that was started or resumed.
struct SearchSeries {
  RunSeries series;
  config::Config config = {};
  std::vector<SpaceKey> space = {};  // empty: default_space() of each recipe
  std::vector<config::Recipe> recipes = {};
  std::map<config::Recipe, std::vector<KeyRange>> ranges = {};  // what is searched
  std::map<std::string, std::string> settings = {};             // settings_of()
  int64_t num_folds = kDefaultFolds;
  SearchLimits limits = {};
  double seconds_before = 0;  // that earlier starts took
};

/// Opens the folder of a new search, or with request.resumes_same of the newest one like it, or of
/// the one to be resumed. Throws as search() does.
SearchSeries open_search(const SearchRequest& request);

/// What search.json says about this, without trials.
Json search_json(const SearchSeries& search);

/// The trial with this number: one of each recipe as it is, and then other settings of each but the
/// linear one.
Trial make_trial(const SearchSeries& search, int64_t number);

/// The run of a trial that validates on fold `fold`, both counted from 1.
SeriesRun fold_run(const SearchSeries& search, const Trial& trial, int64_t fold);

}  // namespace trainer::experiments
