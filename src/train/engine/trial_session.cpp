// SPDX-License-Identifier: Apache-2.0
#include "train/engine/trial_session.h"

#include <utility>

#include "trainer/base/time/time_scopes.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/recipe.h"
#include "trainer/table/cached/load.h"
#include "trainer/table/dataset.h"

namespace trainer::engine {

TrialSession open_trial_session(config::Config config) {
  const TimedStage timed(Stage::kPrepare);
  data::Datasets data = cache::load(config.data, static_cast<uint64_t>(config.seed));
  config::complete_recipe(config, data::recipe_facts(data));
  TrialSession trial{.decisions = decide_device(config, data, {}, MayChoosePrecision::kNo),
                     .session = nullptr};
  warn(trial.decisions);
  config.precision = trial.decisions.precision.precision;
  trial.session = train::make_session(config, std::move(data), trial.decisions.device.device);
  return trial;
}

}  // namespace trainer::engine
