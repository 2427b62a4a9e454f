// SPDX-License-Identifier: Apache-2.0
#include "engine/batch_search_run.h"

#include <algorithm>
#include <utility>

#include "trainer/cache/load.h"
#include "trainer/config/recipe.h"
#include "trainer/data/dataset.h"
#include "trainer/train/batch_search.h"

#include "engine/decisions.h"

namespace trainer::engine {
namespace {

BatchTrial convert(const train::BatchTrial& trial) {
  return {.batch_size = trial.batch_size,
          .num_threads = trial.num_threads,
          .step_seconds = trial.step_seconds,
          .samples_per_second = trial.samples_per_second(),
          .memory_bytes = trial.memory_bytes};
}

}  // namespace

BatchSearchReport run_batch_search(const BatchSearchRequest& request) {
  config::Config config = request.config.config;
  data::Datasets data = cache::load(config.data, static_cast<uint64_t>(config.seed));
  config::complete_recipe(config, data::recipe_facts(data));
  const Decisions decisions = decide_device(config, {});
  warn(decisions);
  config.precision = decisions.precision.precision;
  const auto session = train::make_session(config, std::move(data), decisions.device.device);
  const int64_t all = session->train.size();
  const int64_t max_batch_size =
      request.max_batch_size > 0 ? std::min(request.max_batch_size, all) : all;
  const train::BatchSearch search = train::search_batch_sizes(
      *session, max_batch_size, config.threads, [&](const train::BatchTrial& trial) {
        if (request.progress) request.progress(convert(trial));
      });
  return {.device = decisions.device.device.str(),
          .largest = search.trials.back().batch_size,
          .too_large = search.too_large,
          .fastest = convert(train::smallest_fast_batch(search))};
}

}  // namespace trainer::engine
