// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/fit.h"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/log.h"
#include "trainer/core/stop_request.h"
#include "trainer/core/text.h"

namespace trainer::train {
namespace {

bool is_classification(const Session& session) {
  return session.data.schema.task == config::Task::kClassification;
}

[[noreturn]] void fail_non_finite(int64_t step, int64_t epoch, const std::string& problem,
                                  const Output& output) {
  const bool has_checkpoint = std::filesystem::exists(output.checkpoints.last());
  throw Error(
      ErrorKind::kNonFinite,
      fmt::format("step {} (epoch {}): {}; lower training.learning_rate or "
                  "training.gradient_clip_norm, and look for extreme values in the data; {}",
                  step, epoch, problem,
                  has_checkpoint
                      ? "the last good checkpoint is " + output.checkpoints.last().string()
                      : "there is no checkpoint yet"));
}

void require_finite(const run::MetricsRecord& record, const char* what, double value,
                    const Output& output) {
  if (std::isfinite(value)) return;
  fail_non_finite(record.step, record.epoch, fmt::format("the {} is {}", what, value), output);
}

// What the step says of a bad gradient, with the place in the run.
StepStats run_step(Session& session, const Output& output) {
  try {
    return session.step->run(next_window(session), next_learning_rate(session));
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kNonFinite) throw;
    fail_non_finite(session.position.step + 1, session.position.epoch + 1, e.what(), output);
  }
}

// Moves the sums of the interval to those of the epoch and returns them; waits for the device.
checkpoint::Totals take_interval(Session& session) {
  IntervalTotals& interval = session.interval;
  const checkpoint::Totals taken{interval.loss_sum.item<float>(),
                                 interval.num_correct.item<int64_t>(), interval.num_samples};
  interval.loss_sum.zero_();
  interval.num_correct.zero_();
  interval.num_samples = 0;
  session.epoch_totals.loss_sum += taken.loss_sum;
  session.epoch_totals.num_correct += taken.num_correct;
  session.epoch_totals.num_samples += taken.num_samples;
  return taken;
}

run::MetricsRecord training_record(const Session& session, const checkpoint::Totals& totals) {
  const auto samples = static_cast<double>(totals.num_samples);
  run::MetricsRecord record;
  record.step = session.position.step;
  record.epoch = session.position.epoch + 1;
  record.split = "train";
  record.loss = totals.loss_sum / samples;
  if (is_classification(session)) {
    record.accuracy = static_cast<double>(totals.num_correct) / samples;
  }
  return record;
}

run::MetricsRecord evaluation_record(const Session& session, const Evaluation& evaluation,
                                     const char* split, const checkpoint::Position& position) {
  run::MetricsRecord record;
  record.step = position.step;
  record.epoch = position.epoch;
  record.split = split;
  record.loss = evaluation.loss;
  if (is_classification(session)) record.accuracy = evaluation.accuracy();
  record.time_seconds = evaluation.time_seconds;
  return record;
}

// The only place where training waits for the device.
double record_training(Session& session, Output& output) {
  const checkpoint::Totals totals = take_interval(session);
  run::MetricsRecord record = training_record(session, totals);
  record.learning_rate = optim::learning_rate(session.schedule, session.position.step - 1);
  record.grad_norm = session.interval.grad_norm.item<float>();
  record.samples_per_second =
      static_cast<double>(totals.num_samples) / output.interval_time.seconds();
  output.interval_time.restart();
  output.metrics.append(record);
  require_finite(record, "training loss", *record.loss, output);
  require_finite(record, "gradient norm", *record.grad_norm, output);
  return *record.loss;
}

std::string score_text(const run::MetricsRecord& record) {
  std::string text = fmt::format("{} loss {:.4f}", record.split, *record.loss);
  if (record.accuracy) text += fmt::format(" acc {:6.2f} %", 100 * *record.accuracy);
  return text;
}

bool by_accuracy(const Session& session) {
  return session.config.training.best_metric == config::BestMetric::kAccuracy;
}

// Whether the epoch of `record` is better than the best so far; counts for early stopping.
bool update_best(Session& session, const run::MetricsRecord& record) {
  const double value = by_accuracy(session) ? *record.accuracy : *record.loss;
  const double min_delta = session.config.training.early_stopping.min_delta;
  const bool is_best =
      !session.best || (by_accuracy(session) ? value > session.best->value + min_delta
                                             : value < session.best->value - min_delta);
  session.epochs_without_improvement = is_best ? 0 : session.epochs_without_improvement + 1;
  if (is_best) session.best = checkpoint::Best{session.position.epoch, value};
  return is_best;
}

bool checkpoint_due(const Session& session) {
  return session.position.epoch % session.config.checkpoint.every_epochs == 0 || finished(session);
}

void save(const Session& session, Output& output, checkpoint::SaveAs names) {
  if (!names.epoch_file && !names.last && !names.best) return;
  checkpoint::Checkpoint checkpoint = snapshot(session);
  checkpoint.config = output.config;
  checkpoint.num_threads = output.num_threads;
  output.metrics.sync();  // a checkpoint must not know of records that a power failure takes away
  checkpoint.metrics_bytes = output.metrics.num_bytes();
  output.checkpoints.save(checkpoint, names);
}

void close_epoch(Session& session, Output& output) {
  if (session.interval.num_samples > 0) take_interval(session);
  const double seconds = output.epoch_time.seconds();
  run::MetricsRecord train = training_record(session, session.epoch_totals);
  train.learning_rate = optim::learning_rate(session.schedule, session.position.step - 1);
  train.samples_per_second = static_cast<double>(session.epoch_totals.num_samples) / seconds;
  train.time_seconds = seconds;
  output.metrics.append(train);
  require_finite(train, "training loss", *train.loss, output);

  ++session.position.epoch;
  session.position.samples_in_epoch = 0;
  session.epoch_totals = {};
  run::MetricsRecord deciding = train;
  std::string line = fmt::format("epoch {:>{}}/{}  {}", session.position.epoch,
                                 fmt::formatted_size("{}", session.config.training.epochs),
                                 session.config.training.epochs, score_text(train));
  if (session.validation) {
    const Evaluation evaluation = evaluate(session.model, *session.validation, session.loss);
    deciding = evaluation_record(session, evaluation, "val", session.position);
    output.metrics.append(deciding);
    require_finite(deciding, "validation loss", *deciding.loss, output);
    line += "  " + score_text(deciding);
  }
  const bool is_best = update_best(session, deciding);
  save(session, output, {.epoch_file = checkpoint_due(session), .best = is_best});
  log::info(fmt::format("{}  {:>7}{}", line, human_duration(seconds), is_best ? "  best" : ""));
  output.epoch_time.restart();
  output.interval_time.restart();
}

void show_progress(const Session& session, Output& output, int64_t num_samples, double loss) {
  output.samples_done += num_samples;
  if (!output.progress) return;
  output.progress({session.position.epoch + 1, session.config.training.epochs,
                   session.position.samples_in_epoch, session.train.size(), output.samples_done,
                   loss});
}

}  // namespace

int fit(Session& session, Output& output) {
  double shown_loss = std::nan("");
  while (!finished(session)) {
    if (const int signal = stop_request(); signal != 0) {
      save(session, output, {.last = true});
      return signal;
    }
    const StepStats stats = run_step(session, output);
    advance(session, stats);
    if (session.position.step % session.config.logging.save_interval == 0) {
      shown_loss = record_training(session, output);
    }
    show_progress(session, output, stats.num_samples, shown_loss);
    if (session.position.samples_in_epoch == session.train.size()) close_epoch(session, output);
  }
  return 0;
}

std::optional<Evaluation> test_best(Session& session, Output& output) {
  if (!session.test) return std::nullopt;
  checkpoint::Position position = session.position;
  if (std::filesystem::exists(output.checkpoints.best())) {
    const checkpoint::Checkpoint best = checkpoint::read(output.checkpoints.best());
    restore_model(session.model, best);
    position = best.position;
  } else {
    log::warning(fmt::format("{} is missing; the last weights are tested instead of the best",
                             output.checkpoints.best().string()));
  }
  const Evaluation evaluation = evaluate(session.model, *session.test, session.loss);
  output.metrics.append(evaluation_record(session, evaluation, "test", position));
  output.metrics.sync();
  return evaluation;
}

}  // namespace trainer::train
