// SPDX-License-Identifier: Apache-2.0
#include "trainer/plan/outline.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "trainer/config/config.h"
#include "trainer/plan/plateau.h"

namespace trainer::plan {
namespace {

std::vector<int64_t> reductions_by_step(const ScheduleOptions& options) {
  std::vector<int64_t> steps;
  for (int64_t step = options.warmup_steps + options.drop_steps;
       step < options.total_steps && steps.size() < kMostReductions; step += options.drop_steps) {
    steps.push_back(step);
  }
  return steps;
}

// When every epoch is like the first.
std::vector<int64_t> reductions_by_plateau(const config::TrainingConfig& training,
                                           const ScheduleOptions& options, int64_t epoch_steps) {
  std::vector<int64_t> steps;
  PlateauState state;
  for (int64_t epoch = 1; epoch < training.epochs && steps.size() < kMostReductions; ++epoch) {
    if (epoch * epoch_steps <= options.warmup_steps) continue;
    const int64_t before = state.num_reductions;
    state = after_epoch(state, 1, Better::kLower, training.schedule, options);
    if (state.num_reductions > before) steps.push_back(epoch * epoch_steps);
  }
  return steps;
}

std::vector<int64_t> first_reductions(const config::TrainingConfig& training,
                                      const ScheduleOptions& options, int64_t epoch_steps) {
  switch (options.name) {
    case config::ScheduleName::kStep:
      return reductions_by_step(options);
    case config::ScheduleName::kReduceOnPlateau:
      return reductions_by_plateau(training, options, epoch_steps);
    default:
      return {};
  }
}

// `first` and `last` counted from 1.
Stretch stretch(const Outline& outline, int64_t first, int64_t last) {
  return {(first - 1) / outline.steps_per_epoch + 1, first, last,
          learning_rate(outline.schedule, first - 1), learning_rate(outline.schedule, last - 1)};
}

Stretch epoch_stretch(const Outline& outline, int64_t epoch) {
  return stretch(outline, (epoch - 1) * outline.steps_per_epoch + 1,
                 epoch * outline.steps_per_epoch);
}

// The step, counted from 1, with the highest rate that a rise leads to; 0 where there is none.
int64_t top_step(const ScheduleOptions& options) {
  if (options.name != config::ScheduleName::kOneCycle) return options.warmup_steps;
  return std::llround(options.rise_fraction * static_cast<double>(options.total_steps));
}

std::vector<Stretch> some_epochs(const Outline& outline, int64_t most) {
  const int64_t last = outline.epochs;
  std::set<int64_t> epochs = {1, last};
  if (const int64_t top = top_step(outline.schedule); top > 0) {
    epochs.insert((top - 1) / outline.steps_per_epoch + 1);
  }
  const int64_t free = most - static_cast<int64_t>(epochs.size());
  for (int64_t i = 1; i <= free; ++i) epochs.insert(1 + i * (last - 1) / (free + 1));
  std::vector<Stretch> stretches;
  stretches.reserve(epochs.size());
  for (const int64_t epoch : epochs) stretches.push_back(epoch_stretch(outline, epoch));
  return stretches;
}

std::vector<Stretch> parts_of_epochs(const Outline& outline, int64_t most) {
  const int64_t steps = outline.steps_per_epoch;
  const int64_t parts = std::min(steps, most / outline.epochs);
  std::vector<Stretch> stretches;
  stretches.reserve(static_cast<std::size_t>(outline.epochs * parts));
  for (int64_t epoch = 0; epoch < outline.epochs; ++epoch) {
    for (int64_t part = 0; part < parts; ++part) {
      stretches.push_back(stretch(outline, epoch * steps + part * steps / parts + 1,
                                  epoch * steps + (part + 1) * steps / parts));
    }
  }
  return stretches;
}

}  // namespace

Outline make_outline(const config::TrainingConfig& training, int64_t num_train) {
  Outline outline;
  outline.schedule = schedule_options(training, num_train);
  outline.epochs = training.epochs;
  outline.samples_per_step = samples_per_step(training, num_train);
  outline.steps_per_epoch = steps_per_epoch(training, num_train);
  outline.samples_of_last_step =
      num_train - (outline.steps_per_epoch - 1) * outline.samples_per_step;
  outline.first_reductions = first_reductions(training, outline.schedule, outline.steps_per_epoch);
  return outline;
}

std::vector<Stretch> epoch_stretches(const Outline& outline) {
  std::vector<Stretch> stretches;
  stretches.reserve(static_cast<std::size_t>(outline.epochs));
  for (int64_t epoch = 1; epoch <= outline.epochs; ++epoch) {
    stretches.push_back(epoch_stretch(outline, epoch));
  }
  return stretches;
}

std::vector<Stretch> telling_stretches(const Outline& outline, int64_t most) {
  if (outline.epochs > most) return some_epochs(outline, most);
  if (2 * outline.epochs > most) return epoch_stretches(outline);
  return parts_of_epochs(outline, most);
}

}  // namespace trainer::plan
