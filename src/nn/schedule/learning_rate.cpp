// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/schedule/learning_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trainer/config/training_config.h"

namespace trainer::schedule {
namespace {

// Decreases from 1 to `final_factor` along half a cosine as t goes from 0 to 1.
double half_cosine(double final_factor, double t) {
  return final_factor + (1 - final_factor) * (1 + std::cos(std::numbers::pi * t)) / 2;
}

double coslog_factor(int64_t cycles, double t) {
  const double growth = std::exp2(static_cast<double>(cycles)) - 1;
  return (1 - std::cos(2 * std::numbers::pi * std::log2(1 + growth * t))) / 2;
}

double one_cycle_factor(const ScheduleOptions& options, int64_t step) {
  const double last = static_cast<double>(options.total_steps) - 1;
  const double top = options.rise_fraction * static_cast<double>(options.total_steps) - 1;
  const double at = std::min(static_cast<double>(step), last);
  if (at < top) return half_cosine(options.initial_factor, 1 - at / top);
  return top < last ? half_cosine(options.final_factor, (at - top) / (last - top)) : 1;
}

}  // namespace

int64_t samples_per_step(const config::TrainingConfig& training, int64_t num_train) {
  return std::min(training.batch_size * training.gradient_accumulation_steps, num_train);
}

int64_t steps_per_epoch(const config::TrainingConfig& training, int64_t num_train) {
  const int64_t per_step = samples_per_step(training, num_train);
  return (num_train + (training.drop_last ? 0 : per_step - 1)) / per_step;
}

int64_t samples_per_epoch(const config::TrainingConfig& training, int64_t num_train) {
  return std::min(num_train,
                  steps_per_epoch(training, num_train) * samples_per_step(training, num_train));
}

ScheduleOptions schedule_options(const config::TrainingConfig& training, int64_t num_train) {
  const config::ScheduleConfig& schedule = training.schedule;
  const int64_t epoch_steps = steps_per_epoch(training, num_train);
  ScheduleOptions options;
  options.name = schedule.name;
  options.peak = training.learning_rate;
  options.warmup_steps = std::llround(schedule.warmup_epochs * static_cast<double>(epoch_steps));
  options.total_steps = training.epochs * epoch_steps;
  options.final_factor = schedule.final_factor;
  options.gamma = schedule.gamma;
  options.drop_steps = schedule.step_epochs * epoch_steps;
  options.rise_fraction = schedule.rise_fraction;
  options.initial_factor = schedule.initial_factor;
  options.min_rate = schedule.min_learning_rate;
  options.cycles = schedule.cycles;
  return options;
}

double learning_rate(const ScheduleOptions& options, int64_t step, int64_t num_reductions) {
  if (step < options.warmup_steps) {
    return options.peak * static_cast<double>(step + 1) / static_cast<double>(options.warmup_steps);
  }
  const int64_t after = step - options.warmup_steps;
  const int64_t decay_steps = std::max<int64_t>(1, options.total_steps - options.warmup_steps);
  const double t = std::min(1.0, static_cast<double>(after) / static_cast<double>(decay_steps));
  const double f = options.final_factor;
  switch (options.name) {
    case config::ScheduleName::kConstant:
      return options.peak;
    case config::ScheduleName::kLinear:
      return options.peak * (1 - (1 - f) * t);
    case config::ScheduleName::kCosine:
      return options.peak * half_cosine(f, t);
    case config::ScheduleName::kStep:
      return options.peak * std::pow(options.gamma, after / options.drop_steps);
    case config::ScheduleName::kOneCycle:
      return options.peak * one_cycle_factor(options, step);
    case config::ScheduleName::kReduceOnPlateau:
      return std::max(options.peak * std::pow(options.gamma, num_reductions), options.min_rate);
    case config::ScheduleName::kCoslog:
      return options.peak * coslog_factor(options.cycles, t);
  }
  return options.peak;
}

double schedule_factor(config::FactorSchedule schedule, int64_t step, int64_t total_steps) {
  const double t = static_cast<double>(step) / static_cast<double>(total_steps);
  if (schedule == config::FactorSchedule::kConstant || t < 0.5) return 1;
  return half_cosine(0, std::min(1.0, 2 * t - 1));
}

namespace {

bool is_better(double metric, const std::optional<double>& best, Better better, double threshold) {
  if (!std::isfinite(metric)) return false;
  if (!best) return true;
  const double margin = threshold * std::abs(*best);
  return better == Better::kHigher ? metric > *best + margin : metric < *best - margin;
}

bool can_be_reduced(const ScheduleOptions& options, int64_t num_reductions) {
  const int64_t step = options.warmup_steps;
  return learning_rate(options, step, num_reductions + 1) <
         learning_rate(options, step, num_reductions);
}

}  // namespace

PlateauState after_epoch(const PlateauState& state, double metric, Better better,
                         const config::ScheduleConfig& schedule, const ScheduleOptions& options) {
  PlateauState next = state;
  if (is_better(metric, state.best, better, schedule.threshold)) {
    next.best = metric;
    next.bad_epochs = 0;
  } else {
    ++next.bad_epochs;
  }
  if (next.cooldown_left > 0) {
    --next.cooldown_left;
    next.bad_epochs = 0;
  }
  if (next.bad_epochs > schedule.patience) {
    next.bad_epochs = 0;
    next.cooldown_left = schedule.cooldown;
    if (can_be_reduced(options, state.num_reductions)) ++next.num_reductions;
  }
  return next;
}

}  // namespace trainer::schedule
