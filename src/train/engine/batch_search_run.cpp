// SPDX-License-Identifier: Apache-2.0
#include "train/engine/batch_search_run.h"

#include <algorithm>

#include "trainer/train/batch_search.h"

#include "train/engine/trial_session.h"

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
  const TrialSession opened = open_trial_session(request.config.config);
  const int64_t all = opened.session->train.size();
  const int64_t max_batch_size =
      request.max_batch_size > 0 ? std::min(request.max_batch_size, all) : all;
  const train::BatchSearch search =
      train::search_batch_sizes(*opened.session, max_batch_size, opened.session->config.threads,
                                [&](const train::BatchTrial& trial) {
                                  if (request.progress) request.progress(convert(trial));
                                });
  return {.device = opened.decisions.device.device.str(),
          .largest = search.trials.back().batch_size,
          .too_large = search.too_large,
          .fastest = convert(train::smallest_fast_batch(search))};
}

}  // namespace trainer::engine
