// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <vector>

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/signals.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/fields.h"
#include "trainer/metrics/calibration.h"
#include "trainer/torch/device/memory.h"
#include "trainer/train/out_of_memory.h"

#include "train/device_fault.h"
#include "train/non_finite.h"
#include "train/records.h"
#include "train/saving.h"
#include "train/steps_ahead.h"
#include "train/thread_watch.h"

namespace trainer::train {
namespace {

using IsBest = checkpoint::Store::IsBest;
using checkpoint::SaveReason;

// Returns the value of training.best_metric, NaN if it is undefined.
double best_metric_value(const Session& session, const run::MetricsRecord& record) {
  switch (session.config.training.best_metric) {
    case config::BestMetric::kLoss:
      return *record.loss;
    case config::BestMetric::kAccuracy:
      return *record.accuracy;
    case config::BestMetric::kLogLoss:
    case config::BestMetric::kCalibratedLogLoss:
    case config::BestMetric::kBalancedAccuracy:
    case config::BestMetric::kF1:
    case config::BestMetric::kBinaryF1:
    case config::BestMetric::kAuroc:
    case config::BestMetric::kPrAuc:
    case config::BestMetric::kMae:
    case config::BestMetric::kRmse:
    case config::BestMetric::kMape:
    case config::BestMetric::kR2:
      break;
  }
  return metrics::find_score(record.scores, config::to_text(session.config.training.best_metric))
      .value_or(std::nan(""));
}

// Returns whether the epoch of `record` is the best so far. Also counts epochs for early stopping.
IsBest update_best(Session& session, const run::MetricsRecord& record) {
  const double value = best_metric_value(session, record);
  const double min_delta = session.config.training.early_stopping.min_delta;
  if (!std::isfinite(value)) {
    ++session.state.epochs_without_improvement;
    return IsBest::kNo;
  }
  const bool larger = config::is_better_when_larger(session.config.training.best_metric);
  const bool is_better =
      !session.state.best || (larger ? value > session.state.best->value + min_delta
                                     : value < session.state.best->value - min_delta);
  session.state.epochs_without_improvement =
      is_better ? 0 : session.state.epochs_without_improvement + 1;
  const bool is_best = is_better || (session.config.training.best_ties == config::BestTies::kLast &&
                                     value == session.state.best->value);
  if (is_best) {
    session.state.best = checkpoint::Best{.epoch = session.state.position.epoch, .value = value};
  }
  return is_best ? IsBest::kYes : IsBest::kNo;
}

// Updates the state of reduce_on_plateau with the epoch of `record`. Returns a text for the log if
// that reduced the learning rate, else an empty string.
std::string update_plateau(Session& session, const run::MetricsRecord& record) {
  // During the warm-up the metric says nothing about the learning rate after it.
  const bool is_warming_up = session.state.position.step <= session.schedule.warmup_steps;
  if (!session.state.plateau || is_warming_up) return "";
  const int64_t reductions = session.state.plateau->num_reductions;
  const bool larger = config::is_better_when_larger(session.config.training.best_metric);
  session.state.plateau =
      schedule::after_epoch(*session.state.plateau, best_metric_value(session, record),
                            larger ? schedule::Better::kHigher : schedule::Better::kLower,
                            session.config.training.schedule, session.schedule);
  if (session.state.plateau->num_reductions == reductions) return "";
  return fmt::format("  learning rate reduced to {:.4g}", next_learning_rate(session));
}

// Copies the averaged weights, if there are any, to the model.
void use_averaged_weights(Session& session) {
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    if (moment.name == optim::kEma) session.model.parameters().values.copy_(moment.tensor);
  }
}

/// While it lives, the model has the averaged weights.
class AveragedWeights {
 public:
  explicit AveragedWeights(Session& session) : values_(session.model.parameters().values) {
    if (session.config.training.ema_decay == 0) return;
    saved_ = values_.clone();
    use_averaged_weights(session);
  }
  ~AveragedWeights() {
    if (saved_.defined()) values_.copy_(saved_);
  }
  AveragedWeights(const AveragedWeights&) = delete;
  AveragedWeights& operator=(const AveragedWeights&) = delete;

 private:
  at::Tensor values_;
  at::Tensor saved_;
};

// Fits the temperature to the outputs on the validation split.
void calibrate(Session& session, const Evaluation& evaluation) {
  if (!is_calibrated(session)) return;
  session.state.temperature = metrics::fit_temperature(
      {evaluation.outputs, session.model.spec().num_outputs}, session.data.validation.classes);
}

// Divides the logits by the temperature by scaling the weights of the output layer, as
// apply::load_model() does, with the same bits.
void divide_outputs(Session& session, double temperature) {
  if (temperature == 1) return;
  const at::NoGradGuard no_grad;
  const std::vector<std::string> names = network::output_tensors(session.model.spec());
  for (const model::NamedTensor& parameter : session.model.state()) {
    if (std::find(names.begin(), names.end(), parameter.name) == names.end()) continue;
    parameter.tensor.mul_(static_cast<float>(1 / temperature));
  }
}

// A perfect score after a few epochs suggests that a feature contains the target. With few rows or
// a single class it is not suspicious, and late in training it is expected.
void report_perfect_score(const Session& session, const run::MetricsRecord& validation,
                          Output& output) {
  constexpr int64_t kMaxEpochs = 3;
  constexpr int64_t kMinRows = 100;
  constexpr double kPerfectR2 = 0.9999;
  const bool is_generated = session.config.data.source == config::Source::kSynthetic;
  if (is_generated || output.reported_perfect_score || session.state.position.epoch > kMaxEpochs ||
      session.data.validation.size() < kMinRows) {
    return;
  }
  const std::span<const int64_t> classes = session.data.validation.classes;
  const bool has_several =
      std::adjacent_find(classes.begin(), classes.end(), std::not_equal_to<>()) != classes.end();
  const bool all_correct = has_several && validation.accuracy == 1.0;
  const double r2 = metrics::find_score(validation.scores, "r2").value_or(0);
  if (!all_correct && !(r2 > kPerfectR2)) return;
  output.reported_perfect_score = true;
  log::warning_once(fmt::format(
      "validation {} after epoch {}: possible target leakage; drop columns that copy the target or "
      "are only known after it with data.ignore",
      all_correct ? "accuracy is 100 %" : "R2 is above 0.9999", session.state.position.epoch));
}

void complete_epoch(Session& session, Output& output) {
  finish_interval(session);
  check_any_step_made(session, output);
  const run::MetricsRecord train = record_epoch(session, output);
  finish_epoch(session);
  react_to_non_finite(session, output, train);
  run::MetricsRecord selection = train;
  std::optional<Evaluation> validation;
  const config::BestMetric decides = session.config.training.best_metric;
  const std::string epochs = fmt::to_string(session.config.training.epochs);
  std::string line = fmt::format("epoch {:>{}}/{}  {}", session.state.position.epoch, epochs.size(),
                                 epochs, score_text(train, decides));
  if (session.validation) {
    const TimedStage timed(Stage::kEvaluate);
    validation = evaluate_within_memory(session, [&] {
      const AveragedWeights averaged(session);
      return session.step->evaluate(*session.validation);
    });
    calibrate(session, *validation);
    selection =
        record_evaluation(session, *validation, "validation", session.state.position, output);
    react_to_non_finite(session, output, selection);
    line += "  " + score_text(selection, decides);
  }
  const IsBest is_best = update_best(session, selection);
  if (validation && is_best == IsBest::kYes) {
    add_confusion(session, *validation, session.data.validation, "validation", output);
  }
  session.epoch_metrics = {train.epoch, scores_of(train), {}};
  if (session.validation) session.epoch_metrics.validation = scores_of(selection);
  const std::string reduction = update_plateau(session, selection);
  save_epoch(session, output, is_best);
  Json fields = {{"step", train.step},
                 {"epoch", train.epoch},
                 {"epochs", session.config.training.epochs},
                 {"loss", *train.loss}};
  if (session.validation) fields["validation_loss"] = *selection.loss;
  fields["is_best"] = is_best == IsBest::kYes;
  fields["time_seconds"] = *train.time_seconds;
  log::event("epoch",
             fmt::format("{}  {:>6}{}{}", line, human_duration(*train.time_seconds),
                         is_best == IsBest::kYes ? " best" : "", reduction),
             fields);
  if (session.validation) report_perfect_score(session, selection, output);
  restart_clocks(session, output);
}

void add_histograms_if_due(const Session& session, Output& output) {
  const int64_t interval = session.config.logging.histogram_interval;
  if (interval > 0 && session.state.position.step % interval == 0) add_histograms(session, output);
}

void show_progress(const Session& session, Output& output, int64_t num_samples, double loss) {
  output.samples_done += num_samples;
  if (!output.progress) return;
  output.progress(
      {.epoch = session.state.position.epoch + 1,
       .num_epochs = session.config.training.epochs,
       .samples = session.state.position.samples_in_epoch,
       .num_samples = schedule::samples_per_epoch(session.config.training, session.train.size()),
       .total_samples = output.samples_done,
       .loss = loss,
       .may_stop_early = session.config.training.early_stopping.patience > 0});
}

}  // namespace

void save_initial(const Session& session, Output& output) {
  if (!session.world->is_first()) return;
  if (std::filesystem::exists(output.checkpoints.last())) return;
  const bool is_epoch = session.state.position.samples_in_epoch == 0;
  save(session, output, is_epoch ? SaveReason::kEpoch : SaveReason::kOther, IsBest::kNo);
  wait_for_saving(output);
}

namespace {

// The signal that asked this process to stop or, with several processes, any of them before the
// last step; 0: none.
int stop_signal(const Session& session) {
  return session.world->is_alone() ? stop_request() : session.requests.stop_signal;
}

// The number of steps until the end of the epoch, or until a record, histogram or checkpoint is
// due.
int64_t steps_until_due(const Session& session) {
  const config::Config& config = session.config;
  const int64_t num_samples = session.train.size();
  const int64_t left = schedule::samples_per_epoch(config.training, num_samples) -
                       session.state.position.samples_in_epoch;
  const int64_t a_step = schedule::samples_per_step(config.training, num_samples);
  int64_t count = (left + a_step - 1) / a_step;
  for (const int64_t interval : {config.logging.save_interval, config.logging.histogram_interval,
                                 config.checkpoint.every_steps}) {
    if (interval > 0) count = std::min(count, interval - session.state.position.step % interval);
  }
  return count;
}

// Advances the session by these steps. Returns false if the run was rolled back.
bool advance_by(Session& session, Output& output, const std::vector<StepStats>& steps) {
  for (const StepStats& stats : steps) {
    if (!stats.is_finite && react_to_non_finite(session, output, stats) == Reaction::kRolledBack) {
      return false;
    }
    advance(session, stats);
  }
  return true;
}

int64_t num_samples(const std::vector<StepStats>& steps) {
  return std::accumulate(
      steps.begin(), steps.end(), int64_t{0},
      [](int64_t sum, const StepStats& stats) { return sum + stats.num_samples; });
}

// All processes wait until the first one has saved, because launchers end all processes soon after
// one has ended.
void wait_for_first(const Session& session) {
  std::byte done{};
  session.world->broadcast({&done, 1});
}

int train_to_the_end(Session& session, Output& output, Backup& backup) {
  double shown_loss = std::nan("");
  constexpr int64_t kMaxAhead = 1024;
  StepsAhead ahead(session.device.is_cpu() ? 1 : kMaxAhead);
  ThreadWatch threads(output.first_thread_trial);
  while (!finished(session)) {
    if (const int signal = stop_signal(session); signal != 0) {
      save(session, output, SaveReason::kOther, IsBest::kNo);
      wait_for_saving(output);
      wait_for_first(session);
      return signal;
    }
    backup.keep(session, output);
    const Stopwatch step_time;
    const std::vector<StepStats>& steps = ahead.run(session, steps_until_due(session));
    const double step_seconds = step_time.seconds();
    if (!advance_by(session, output, steps)) continue;
    if (session.state.position.step % session.config.logging.save_interval == 0) {
      shown_loss = record_steps(session, finish_interval(session), output);
    }
    add_histograms_if_due(session, output);
    show_progress(session, output, num_samples(steps), shown_loss);
    if (epoch_is_complete(session)) {
      complete_epoch(session, output);
    } else {
      save_within_epoch(session, output);
    }
    threads.after_steps(session, output, std::ssize(steps), step_seconds);
  }
  wait_for_saving(output);
  return 0;
}

}  // namespace

int fit(Session& session, Output& output) {
  save_initial(session, output);
  restart_clocks(session, output);
  Backup backup;
  try {
    return train_to_the_end(session, output, backup);
  } catch (const c10::Error& e) {
    if (session.device.is_cpu() || device::is_out_of_memory(e)) throw;
    backup.report_failure(session, output, e);
  }
}

namespace {

// Restores the weights and the temperature of the best epoch. Returns the position of that epoch,
// or of the last one if its checkpoint cannot be read.
checkpoint::Position restore_best(Session& session, const Output& output) {
  const auto best =
      session.state.best ? output.checkpoints.read_best(*session.state.best) : std::nullopt;
  if (best) {
    restore_model(session.model, *best);
    session.state.temperature = best->state.temperature;
    return best->state.position;
  }
  use_averaged_weights(session);
  log::warning(
      fmt::format("{} is missing or damaged; evaluating the last weights instead of the best",
                  output.checkpoints.best().string()));
  return session.state.position;
}

}  // namespace

BestReports evaluate_best(Session& session, Output& output) {
  const TimedStage timed(Stage::kEvaluate);
  checkpoint::Position position = session.state.position;
  if (session.world->is_first()) position = restore_best(session, output);
  share_state(session);
  divide_outputs(session, session.state.temperature);
  const auto evaluate = [&](std::optional<ResidentData> Session::*split) {
    return evaluate_within_memory(session,
                                  [&] { return session.step->evaluate(*(session.*split)); });
  };
  BestReports reports;
  if (session.validation) {
    reports.validation =
        make_report(session, evaluate(&Session::validation), session.data.validation);
  }
  if (session.test) {
    const Evaluation evaluation = evaluate(&Session::test);
    record_evaluation(session, evaluation, "test", position, output);
    add_confusion(session, evaluation, session.data.test, "test", output);
    output.metrics.sync();
    reports.test = make_report(session, evaluation, session.data.test);
  }
  return reports;
}

}  // namespace trainer::train
