// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/trials.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "trainer/base/parallel/cpus.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/distributed/reduction.h"
#include "trainer/nn/schedule/learning_rate.h"
#include "trainer/nn/schedule/loss_scale.h"
#include "trainer/nn/spec/build.h"
#include "trainer/torch/device/device.h"
#include "trainer/torch/device/memory.h"
#include "trainer/torch/device/threads.h"
#include "trainer/torch/model/network.h"
#include "trainer/train/out_of_memory.h"
#include "trainer/train/step.h"

#include "train/session_checks.h"

namespace trainer::train {
namespace {

constexpr int64_t kNumCheckSteps = 10;

// The first rows of the training split, scaled.
ResidentData first_rows(const data::Datasets& data, int64_t num_rows, c10::Device device) {
  const ResidentData all = make_resident(data.train, data.schema, c10::kCPU);
  const Batch batch = slice(all, 0, num_rows);
  ResidentData rows;
  rows.features = batch.features.to(device);
  rows.targets = batch.targets.values.to(device);
  if (batch.targets.weights.defined()) rows.weights = batch.targets.weights.to(device);
  // The fused step scales all features, so it gets a scaling that changes nothing.
  rows.shift = at::zeros({batch.features.size(1)});
  rows.scale = at::ones({batch.features.size(1)});
  rows.is_scaled = true;
  return rows;
}

/// Runs steps as a run does, but with few rows and without a session.
class Steps {
 public:
  Steps(const config::Config& config, const data::Datasets& data, c10::Device device,
        int64_t num_rows, int64_t num_threads)
      : rows_(first_rows(data, num_rows, device)),
        order_(at::arange(num_rows, at::kLong).to(device)),
        num_threads_(num_threads),
        batch_size_(std::min(config.training.batch_size, num_rows)),
        network_(network::build(config, data.schema), network_options(config), device) {
    const auto seed = static_cast<uint64_t>(config.seed);
    if (model::needs_data(network_.spec())) {
      model::initialize(network_, seed, on_cpu(slice(rows_, 0, rows_.size())));
    } else {
      model::initialize(network_, seed);
    }
    if (config.precision == config::Precision::kFp16) loss_scale_ = schedule::kInitialLossScale;
    optimizer_state_ = optim::make_state(config.training.optimizer, 0, network_.parameters());
    const StepContext context{
        .model = network_,
        .optimizer_state = optimizer_state_,
        .optimizer = config.training.optimizer,
        .loss = loss_options(config.training, data.schema.task),
        .clip_norm = config.training.gradient_clip_norm,
        .loss_scale = config.precision == config::Precision::kFp16 ? &loss_scale_ : nullptr,
        .cuda_graphs = config.training.cuda_graphs};
    const bool is_fused =
        config.training.step != config::StepKind::kAutograd && has_kernels(config, device);
    step_ =
        is_fused ? make_fused_step(context, batch_size_, num_threads) : make_autograd_step(context);
    rate_ = {.learning_rate = config.training.learning_rate};
  }

  /// Runs one step, and repeats it with a smaller loss scale after an overflow, as a run does.
  StepStats run() {
    device::use_threads(num_threads_);
    for (;;) {
      const StepStats stats = step_->run(next_window(), rate_);
      if (!stats.has_overflowed) return stats;
      loss_scale_ = schedule::after_step(loss_scale_, schedule::GradientStatus::kNotFinite);
    }
  }

  /// Returns the mean seconds of `count` consecutive steps.
  double time(int64_t count) {
    device::use_threads(num_threads_);
    const Stopwatch stopwatch;
    for (int64_t i = 0; i < count; ++i) {
      if (step_->can_start()) {
        step_->start(next_window(), rate_);
      } else {
        step_->run(next_window(), rate_);
      }
    }
    step_->finish();
    return stopwatch.seconds() / static_cast<double>(count);
  }

  at::Tensor weights() const { return network_.parameters().values.detach().cpu(); }
  at::Tensor gradients() const { return network_.parameters().gradients.cpu(); }

 private:
  Window next_window() {
    if (begin_ + batch_size_ > rows_.size()) begin_ = 0;
    const int64_t begin = begin_;
    begin_ += batch_size_;
    return {.data = rows_,
            .order = order_,
            .begin = begin,
            .num_samples = batch_size_,
            .batch_size = batch_size_,
            .dropout_seed = 1};
  }

  ResidentData rows_;
  at::Tensor order_;
  int64_t num_threads_;
  int64_t batch_size_;
  int64_t begin_ = 0;
  model::Network network_;
  optim::OptimizerState optimizer_state_;
  schedule::LossScaleState loss_scale_;
  UpdateRates rate_;
  std::unique_ptr<TrainStep> step_;
};

double norm_of(const at::Tensor& tensor) { return at::linalg_vector_norm(tensor).item<double>(); }

// The norm of the difference between `actual` and `expected`, relative to `scale`.
double difference(const at::Tensor& actual, const at::Tensor& expected, double scale) {
  return norm_of(actual.sub(expected)) / std::max(scale, 1e-12);
}

double mean_loss(const StepStats& stats) {
  return static_cast<double>(stats.loss_sum) / static_cast<double>(stats.num_samples);
}

// Returns what is wrong with a step on the device, or an empty string. Differences by rounding are
// far below the limits.
std::string compare(Steps& device_steps, Steps& cpu_steps) {
  constexpr double kMaxGradientError = 0.01;
  // Adam turns gradients that are only rounding errors into large updates.
  constexpr double kMaxUpdateError = 0.5;
  const at::Tensor before = cpu_steps.weights();
  const StepStats expected = cpu_steps.run();
  if (!expected.is_finite) return "";
  const StepStats actual = device_steps.run();
  const double loss = mean_loss(actual);
  const double cpu_loss = mean_loss(expected);
  if (!(std::abs(loss - cpu_loss) <= kMaxGradientError * std::abs(cpu_loss) + 1e-6)) {
    return fmt::format("the loss of a small step is {:.6g} and should be {:.6g}, as on the CPU",
                       loss, cpu_loss);
  }
  const at::Tensor gradients = cpu_steps.gradients();
  const double wrong = difference(device_steps.gradients(), gradients, norm_of(gradients));
  if (!(wrong <= kMaxGradientError)) {
    return fmt::format("the gradient of a small step differs by {:.3g} % from that on the CPU",
                       100 * wrong);
  }
  const at::Tensor after = cpu_steps.weights();
  const double moved = difference(device_steps.weights(), after, norm_of(after.sub(before)));
  if (!(moved <= kMaxUpdateError)) {
    return fmt::format("the update of a small step differs by {:.3g} % from that on the CPU",
                       100 * moved);
  }
  return "";
}

double allowed_difference(config::Precision precision) {
  return precision == config::Precision::kFp32 ? 0.001 : 0.05;
}

config::Config reference_of(config::Config config) {
  config.precision = config::Precision::kFp32;
  config.training.step = config::StepKind::kAutograd;
  return config;
}

double loss_after_steps(Steps& steps) {
  double loss = 0;
  for (int64_t i = 0; i < kNumCheckSteps; ++i) loss = mean_loss(steps.run());
  return loss;
}

/// The steps of a trial with one number of threads, and their times.
struct Timed {
  DeviceTrial& trial;
  std::unique_ptr<Steps> steps;
  int64_t count = 1;  // number of steps that are timed together
  std::vector<double> seconds = {};
};

// Creates the steps of a trial, checks their loss, and adds them to `timed`.
void prepare_trial(const config::Config& config, const data::Datasets& data, int64_t num_rows,
                   double expected_loss, DeviceTrial& trial, std::vector<Timed>& timed) try {
  config::Config tried = config;
  tried.precision = trial.precision;
  // On the CPU a single thread may be faster than all.
  std::vector<int64_t> threads = {usable_cpus()};
  if (trial.device.is_cpu() && threads.front() > 1) threads.push_back(1);
  for (const int64_t num_threads : threads) {
    auto steps = std::make_unique<Steps>(tried, data, trial.device, num_rows, num_threads);
    const double loss = loss_after_steps(*steps);
    trial.loss_difference =
        std::abs(loss - expected_loss) / std::max(std::abs(expected_loss), 1e-6);
    if (!(trial.loss_difference <= allowed_difference(trial.precision))) {
      trial.problem = fmt::format("the loss after {} steps is {:.6g} and should be {:.6g}",
                                  kNumCheckSteps, loss, expected_loss);
      return;
    }
    timed.push_back({trial, std::move(steps)});
  }
} catch (const std::exception& error) {
  trial.problem = device::error_line(error);
}

// Calls body() unless the trial has a problem already. An exception becomes its problem.
template <class Body>
void attempt(Timed& one, const Body& body) try {
  if (one.trial.problem.empty()) body();
} catch (const std::exception& error) {
  one.trial.problem = device::error_line(error);
}

// Chooses how many steps are timed together, so that they take at least 10 ms.
void choose_count(Timed& one) {
  constexpr double kSeconds = 0.01;
  constexpr int64_t kMost = 1024;
  while (one.steps->time(one.count) * static_cast<double>(one.count) < kSeconds &&
         one.count < kMost) {
    one.count *= 2;
  }
}

// Times the trials in turn, so that other work on the machine affects all of them.
void time_in_turn(std::vector<Timed>& timed) {
  constexpr int kRounds = 9;
  for (Timed& one : timed) attempt(one, [&] { choose_count(one); });
  for (int round = 0; round < kRounds; ++round) {
    for (Timed& one : timed) {
      attempt(one, [&] { one.seconds.push_back(one.steps->time(one.count)); });
    }
  }
  for (Timed& one : timed) {
    if (!one.trial.problem.empty()) continue;
    const auto middle = one.seconds.begin() + kRounds / 2;
    std::nth_element(one.seconds.begin(), middle, one.seconds.end());
    double& best = one.trial.step_seconds;
    best = best == 0 ? *middle : std::min(best, *middle);
  }
}

}  // namespace

std::string find_device_problem(const config::Config& config, const data::Datasets& data,
                                c10::Device device) {
  constexpr int64_t kRows = 32;
  check_data(config, data, device);
  const config::Config checked = reference_of(config);
  const int64_t num_rows = std::min(kRows, data.train.size());
  Steps cpu_steps(checked, data, c10::kCPU, num_rows, 1);
  try {
    Steps device_steps(checked, data, device, num_rows, 1);
    return compare(device_steps, cpu_steps);
  } catch (const std::exception& error) {
    return device::is_out_of_memory(error) ? "" : device::error_line(error);
  }
}

void time_devices(const config::Config& config, const data::Datasets& data,
                  std::vector<DeviceTrial>& trials) {
  constexpr int64_t kBatches = 4;
  check_data(config, data, c10::kCPU);
  const int64_t num_rows = std::min(kBatches * config.training.batch_size, data.train.size());
  Steps reference(reference_of(config), data, c10::kCPU, num_rows, 1);
  const double expected = loss_after_steps(reference);
  std::vector<Timed> timed;
  for (DeviceTrial& trial : trials) {
    prepare_trial(config, data, num_rows, expected, trial, timed);
  }
  time_in_turn(timed);
}

const DeviceTrial* find_fastest(const std::vector<DeviceTrial>& trials) {
  constexpr double kEquallyFast = 1.05;
  double best = std::numeric_limits<double>::infinity();
  for (const DeviceTrial& trial : trials) {
    if (trial.problem.empty()) best = std::min(best, trial.step_seconds);
  }
  const auto found = std::find_if(trials.begin(), trials.end(), [&](const DeviceTrial& trial) {
    return trial.problem.empty() && trial.step_seconds <= kEquallyFast * best;
  });
  return found == trials.end() ? nullptr : &*found;
}

namespace {

constexpr double kExchangeTrialSeconds = 0.02;
constexpr double kMaxTrials = 20;

// Returns the shortest of several runs, because other work on the machine only adds time. All
// processes do the same number of runs.
template <class Run>
double shortest_run(const dist::World& world, const Run& run) {
  const auto measure = [&] {
    const Stopwatch stopwatch;
    run();
    return stopwatch.seconds();
  };
  double shortest = measure();  // the first run warms up
  world.broadcast(std::as_writable_bytes(std::span(&shortest, 1)));
  const auto count = static_cast<int>(std::min(kMaxTrials, kExchangeTrialSeconds / shortest)) + 1;
  for (int i = 0; i < count; ++i) shortest = std::min(shortest, measure());
  return shortest;
}

}  // namespace

ExchangeTrial try_exchange(Session& session) {
  dist::World& world = *session.world;
  ExchangeTrial trial;
  trial.compute = shortest_run(world, [&] { rehearse_step(session); });
  const int64_t size = session.model.parameters().num_trained;
  const std::size_t num_subtrees = std::max<std::size_t>(1, session.division.my_subtrees().size());
  const auto stride = static_cast<std::size_t>(session.model.parameters().values.numel());
  const std::shared_ptr<void> memory = world.allocate(num_subtrees * stride * sizeof(float));
  auto* gradients = static_cast<float*>(memory.get());
  // Pages that were never written would be faster.
  std::fill_n(gradients, num_subtrees * stride, 0.0F);
  std::vector<float*> subtrees;
  subtrees.reserve(num_subtrees);
  for (std::size_t i = 0; i < session.division.my_subtrees().size(); ++i) {
    subtrees.push_back(gradients + i * stride);
  }
  dist::Reduction reduction(world, session.division);
  const auto exchange = [&] {
    reduction.add(subtrees, size, gradients);
    reduction.finish();
  };
  trial.exchange = shortest_run(world, exchange);
  world.broadcast(std::as_writable_bytes(std::span(&trial, 1)));
  return trial;
}

namespace {

constexpr double kThreadTrialSeconds = 0.01;  // longer trials choose the same (docs/performance.md)
constexpr double kLongStep = 0.05;
constexpr double kNearlyAsFast = 1.1;
constexpr double kClose = 1.2;
constexpr double kSlower = 1.3;

double measure_seconds(FunctionRef<void()> step) {
  const Stopwatch stopwatch;
  step();
  return stopwatch.seconds();
}

// Returns the shortest of several runs, because other work on the machine only adds time.
double shortest_run(FunctionRef<void()> step) {
  const Stopwatch stopwatch;
  step();  // warm-up
  double shortest = measure_seconds(step);
  while (stopwatch.seconds() < kThreadTrialSeconds)
    shortest = std::min(shortest, measure_seconds(step));
  return shortest;
}

double shortest_step(const std::vector<ThreadTrial>& trials) {
  return std::min_element(trials.begin(), trials.end(),
                          [](const ThreadTrial& a, const ThreadTrial& b) {
                            return a.step_seconds < b.step_seconds;
                          })
      ->step_seconds;
}

}  // namespace

std::vector<ThreadTrial> try_threads(int64_t max_threads,
                                     FunctionRef<void(int64_t num_threads)> set_threads,
                                     FunctionRef<void()> step) {
  set_threads(max_threads);
  // Such a long step has work for every CPU, and trials would delay the run.
  if (const double seconds = measure_seconds(step); seconds > kLongStep)
    return {{max_threads, seconds}};
  const auto seconds_with = [&](int64_t num_threads) {
    set_threads(num_threads);
    return shortest_run(step);
  };
  std::vector<ThreadTrial> trials;
  for (int64_t num_threads = 1;; num_threads = std::min(2 * num_threads, max_threads)) {
    trials.push_back({num_threads, seconds_with(num_threads)});
    const bool is_slower = trials.back().step_seconds > kSlower * shortest_step(trials);
    if (num_threads == max_threads || is_slower) break;
  }
  repeat_close_trials(trials, seconds_with);
  return trials;
}

void repeat_close_trials(std::vector<ThreadTrial>& trials,
                         FunctionRef<double(int64_t num_threads)> step_seconds) {
  if (!are_close(trials)) return;
  for (ThreadTrial& trial : trials) {
    trial.step_seconds = std::min(trial.step_seconds, step_seconds(trial.num_threads));
  }
}

std::vector<ThreadTrial> try_threads(Session& session, int64_t max_threads) {
  return try_threads(
      max_threads, [&](int64_t num_threads) { use_threads_within_memory(session, num_threads); },
      [&] { rehearse_step(session); });
}

int64_t min_fast_threads(const std::vector<ThreadTrial>& trials) {
  const double shortest = shortest_step(trials);
  const auto fast = std::find_if(trials.begin(), trials.end(), [&](const ThreadTrial& trial) {
    return trial.step_seconds <= kNearlyAsFast * shortest;
  });
  return fast->num_threads;
}

bool are_close(const std::vector<ThreadTrial>& trials) {
  if (trials.empty()) return false;
  const double limit = kClose * shortest_step(trials);
  return std::count_if(trials.begin(), trials.end(),
                       [&](const ThreadTrial& trial) { return trial.step_seconds <= limit; }) > 1;
}

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
  constexpr double kDeviceTrialSeconds = 0.2;
  constexpr double kUpdateShare = 1.1;  // a rehearsed step lacks the update of the weights
  constexpr std::size_t kMinSteps = 3;
  rehearse_step(session);  // warm-up
  std::vector<double> seconds;
  const Stopwatch all;
  // Several processes must all do the same number of steps, so a time limit cannot end their loop.
  constexpr std::size_t kSharedSteps = 20;
  const bool is_alone = session.world->is_alone();
  while (seconds.size() < (is_alone ? kMinSteps : kSharedSteps) ||
         (is_alone && all.seconds() < kDeviceTrialSeconds)) {
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
