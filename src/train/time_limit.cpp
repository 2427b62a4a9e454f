// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/time_limit.h"

#include <algorithm>
#include <vector>

#include "trainer/base/time/stopwatch.h"
#include "trainer/nn/schedule/learning_rate.h"
#include "trainer/train/out_of_memory.h"

namespace trainer::train {

namespace {

// Estimates the seconds for the checkpoint and the records at the end of an epoch, without a
// measurement.
double checkpoint_seconds(const Session& session) {
  constexpr double kFixed = 3e-3;
  constexpr double kBytesPerSecond = 4e8;
  const auto num_moments = static_cast<double>(session.optimizer_state.moments.size());
  const auto bytes = static_cast<double>(session.model.parameters().values.nbytes());
  return kFixed + (1 + num_moments) * bytes / kBytesPerSecond;
}

}  // namespace

double estimate_epoch_seconds(Session& session) {
  constexpr double kTrialSeconds = 0.2;
  constexpr double kUpdateShare = 1.1;  // a rehearsed step lacks the update of the weights
  constexpr std::size_t kMinSteps = 3;
  rehearse_step(session);  // warm-up
  std::vector<double> seconds;
  const Stopwatch all;
  // Several processes must all do the same number of steps, so a time limit cannot end their loop.
  constexpr std::size_t kSharedSteps = 20;
  const bool is_alone = session.world->is_alone();
  while (seconds.size() < (is_alone ? kMinSteps : kSharedSteps) ||
         (is_alone && all.seconds() < kTrialSeconds)) {
    const Stopwatch one;
    rehearse_step(session);
    seconds.push_back(one.seconds());
  }
  // The median ignores steps that other work on the machine delays.
  const auto middle = seconds.begin() + std::ssize(seconds) / 2;
  std::nth_element(seconds.begin(), middle, seconds.end());
  const auto num_steps =
      static_cast<double>(schedule::steps_per_epoch(session.config.training, session.train.size()));
  double epoch = kUpdateShare * *middle * num_steps + checkpoint_seconds(session);
  if (session.validation) {
    const Stopwatch evaluation;
    session.step->evaluate(*session.validation);
    epoch += evaluation.seconds();
  }
  return epoch;
}

void set_epochs(Session& session, int64_t epochs) {
  session.config.training.epochs = epochs;
  session.schedule = schedule::schedule_options(session.config.training, session.train.size());
}

}  // namespace trainer::train
