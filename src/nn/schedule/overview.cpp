// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/schedule/overview.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "trainer/config/training_config.h"
#include "trainer/nn/schedule/learning_rate.h"

namespace trainer::schedule {
namespace {

std::vector<int64_t> reductions_by_step(const ScheduleOptions& options) {
  std::vector<int64_t> steps;
  for (int64_t step = options.warmup_steps + options.drop_steps;
       step < options.total_steps && steps.size() < kMaxReductions; step += options.drop_steps) {
    steps.push_back(step);
  }
  return steps;
}

// Computes the reductions under the assumption that no epoch is better than the first.
std::vector<int64_t> reductions_by_plateau(const config::TrainingConfig& training,
                                           const ScheduleOptions& options, int64_t epoch_steps) {
  std::vector<int64_t> steps;
  PlateauState state;
  for (int64_t epoch = 1; epoch < training.epochs && steps.size() < kMaxReductions; ++epoch) {
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
    case config::ScheduleName::kConstant:
    case config::ScheduleName::kLinear:
    case config::ScheduleName::kCosine:
    case config::ScheduleName::kOneCycle:
    case config::ScheduleName::kCoslog:
      break;
  }
  return {};
}

// Returns the segment from step `first` to step `last`, counted from 1.
Segment segment(const ScheduleOverview& overview, int64_t first, int64_t last) {
  return {.epoch = (first - 1) / overview.steps_per_epoch + 1,
          .first_step = first,
          .last_step = last,
          .first_rate = learning_rate(overview.schedule, first - 1),
          .last_rate = learning_rate(overview.schedule, last - 1)};
}

Segment epoch_segment(const ScheduleOverview& overview, int64_t epoch) {
  return segment(overview, (epoch - 1) * overview.steps_per_epoch + 1,
                 epoch * overview.steps_per_epoch);
}

// The step, counted from 1, with the highest rate after a rise; 0 if the rate never rises.
int64_t top_step(const ScheduleOptions& options) {
  if (options.name != config::ScheduleName::kOneCycle) return options.warmup_steps;
  return std::llround(options.rise_fraction * static_cast<double>(options.total_steps));
}

std::vector<Segment> some_epochs(const ScheduleOverview& overview, int64_t max_segments) {
  const int64_t last = overview.epochs;
  std::set<int64_t> epochs = {1, last};
  if (const int64_t top = top_step(overview.schedule); top > 0) {
    epochs.insert((top - 1) / overview.steps_per_epoch + 1);
  }
  const int64_t free = max_segments - static_cast<int64_t>(epochs.size());
  for (int64_t i = 1; i <= free; ++i) epochs.insert(1 + i * (last - 1) / (free + 1));
  std::vector<Segment> segments;
  segments.reserve(epochs.size());
  for (const int64_t epoch : epochs) segments.push_back(epoch_segment(overview, epoch));
  return segments;
}

std::vector<Segment> split_epochs(const ScheduleOverview& overview, int64_t max_segments) {
  const int64_t steps = overview.steps_per_epoch;
  const int64_t pieces = std::min(steps, max_segments / overview.epochs);
  std::vector<Segment> segments;
  segments.reserve(static_cast<std::size_t>(overview.epochs * pieces));
  for (int64_t epoch = 0; epoch < overview.epochs; ++epoch) {
    for (int64_t piece = 0; piece < pieces; ++piece) {
      segments.push_back(segment(overview, epoch * steps + piece * steps / pieces + 1,
                                 epoch * steps + (piece + 1) * steps / pieces));
    }
  }
  return segments;
}

}  // namespace

ScheduleOverview make_overview(const config::TrainingConfig& training, int64_t num_train) {
  ScheduleOverview overview;
  overview.schedule = schedule_options(training, num_train);
  overview.epochs = training.epochs;
  overview.samples_per_step = samples_per_step(training, num_train);
  overview.steps_per_epoch = steps_per_epoch(training, num_train);
  overview.samples_of_last_step = samples_per_epoch(training, num_train) -
                                  (overview.steps_per_epoch - 1) * overview.samples_per_step;
  overview.first_reductions =
      first_reductions(training, overview.schedule, overview.steps_per_epoch);
  return overview;
}

std::vector<Segment> epoch_segments(const ScheduleOverview& overview) {
  std::vector<Segment> segments;
  segments.reserve(static_cast<std::size_t>(overview.epochs));
  for (int64_t epoch = 1; epoch <= overview.epochs; ++epoch) {
    segments.push_back(epoch_segment(overview, epoch));
  }
  return segments;
}

std::vector<Segment> summary_segments(const ScheduleOverview& overview, int64_t max_segments) {
  if (overview.epochs > max_segments) return some_epochs(overview, max_segments);
  if (2 * overview.epochs > max_segments) return epoch_segments(overview);
  return split_epochs(overview, max_segments);
}

}  // namespace trainer::schedule
