// SPDX-License-Identifier: Apache-2.0
#include "train/records.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/time/timeline.h"
#include "trainer/metrics/calibration.h"
#include "trainer/metrics/score.h"
#include "trainer/report/tensorboard/run_events.h"
#include "trainer/torch/device/memory.h"

namespace trainer::train {
namespace {

run::MetricsRecord training_record(const Session& session, const checkpoint::Totals& totals,
                                   double seconds) {
  const auto samples = static_cast<double>(totals.num_samples);
  run::MetricsRecord record;
  record.step = session.state.position.step;
  record.epoch = session.state.position.epoch + 1;
  record.split = "train";
  record.loss = totals.loss_sum / samples;
  if (is_classification(session)) {
    const auto num_members = static_cast<double>(network::num_members(session.model.spec()));
    record.accuracy = static_cast<double>(totals.num_correct) / (samples * num_members);
  }
  record.learning_rate = learning_rate_at(session, session.state.position.step - 1);
  record.samples_per_second = samples / seconds;
  return record;
}

metrics::LabelledOutputs labeled_outputs(const Session& session, const Evaluation& evaluation,
                                         const data::Dataset& rows) {
  return {session.data.schema, rows, {evaluation.outputs, session.model.spec().num_outputs}};
}

void append(const run::MetricsRecord& record, Output& output) {
  const TimedStage timed(Stage::kRecord);
  output.metrics.append(record);
  if (output.events.is_open()) tensorboard::add_record(record, output.events);
  if (!log::has_json()) return;
  log::record("metrics",
              fmt::format("step {} {} loss {}", record.step, record.split,
                          metrics::loss_text(*record.loss)),
              parse_json(run::to_json(record)));
}

// Returns the gradients of the last step as the update used them: the fused step does not write
// clipped gradients.
at::Tensor last_gradients(const Session& session) {
  const at::Tensor& gradients = session.model.parameters().gradients;
  const double clip_norm = session.config.training.gradient_clip_norm;
  if (!uses_kernels(session) || clip_norm == 0) return gradients;
  return gradients.mul(std::min(1.0, clip_norm / (static_cast<double>(session.grad_norm) + 1e-6)));
}

void add_memory(run::MetricsRecord& record, c10::Device device) {
  const ProcessMemory process = process_memory();
  record.memory_bytes = process.current;
  record.peak_memory_bytes = process.peak;
  if (const auto memory = device::accelerator_memory(device)) {
    record.device_memory_bytes = memory->current;
    record.peak_device_memory_bytes = memory->peak;
  }
}

}  // namespace

bool is_classification(const Session& session) {
  return session.data.schema.task == config::Task::kClassification;
}

bool is_calibrated(const Session& session) {
  return session.config.training.calibrate && is_classification(session) && session.validation;
}

void restart_clocks(const Session& session, Output& output) {
  output.epoch_time.restart();
  output.interval_time.restart();
  output.samples_before = output.samples_done;
  output.communication_before = session.world->seconds_waited();
}

double record_steps(const Session& session, const checkpoint::Totals& totals, Output& output) {
  if (totals.num_samples == 0) return std::nan("");  // every step was skipped
  run::MetricsRecord record = training_record(session, totals, output.interval_time.seconds());
  record.grad_norm = session.grad_norm;
  output.interval_time.restart();
  append(record, output);
  log::note(fmt::format("step {} (epoch {})  loss {}  learning rate {:.4g}  {} samples/s",
                        with_thousands(record.step), record.epoch, metrics::loss_text(*record.loss),
                        *record.learning_rate,
                        with_thousands(std::llround(*record.samples_per_second))));
  return *record.loss;
}

run::MetricsRecord record_epoch(const Session& session, Output& output) {
  const double seconds = output.epoch_time.seconds();
  run::MetricsRecord record = training_record(session, session.state.epoch_totals, seconds);
  record.time_seconds = seconds;
  // After a resume within the epoch, another process computed some of its samples, so only those of
  // this process count.
  record.samples_per_second =
      static_cast<double>(output.samples_done - output.samples_before) / seconds;
  if (!session.world->is_alone()) {
    record.communication_seconds = session.world->seconds_waited() - output.communication_before;
  }
  const checkpoint::Recoveries& recoveries = session.state.recoveries;
  if (recoveries.skipped_steps > 0) record.skipped_steps = recoveries.skipped_steps;
  if (recoveries.rollbacks > 0) record.rollbacks = recoveries.rollbacks;
  if (recoveries.overflowed_steps > 0) record.overflowed_steps = recoveries.overflowed_steps;
  if (recoveries.out_of_memory > 0) {
    record.out_of_memory = recoveries.out_of_memory;
    record.micro_batch_size = micro_batch_size(session);
  }
  if (session.state.scaler) record.loss_scale = session.state.scaler->scale;
  add_memory(record, session.device);
  append(record, output);
  if (session.config.logging.histogram_interval == 0) add_histograms(session, output);
  return record;
}

run::MetricsRecord record_evaluation(const Session& session, const Evaluation& evaluation,
                                     const char* split, const checkpoint::Position& position,
                                     Output& output) {
  run::MetricsRecord record;
  record.step = position.step;
  record.epoch = position.epoch;
  record.split = split;
  record.loss = evaluation.loss;
  if (is_classification(session)) record.accuracy = evaluation.accuracy();
  const bool is_test = record.split == "test";
  const config::BestMetric metric = session.config.training.best_metric;
  const bool by_rank = metric == config::BestMetric::kAuroc || metric == config::BestMetric::kPrAuc;
  record.scores = metrics::scores(
      labeled_outputs(session, evaluation, is_test ? session.data.test : session.data.validation),
      is_test || by_rank ? metrics::Ranking::kOfAll : metrics::Ranking::kOfTwoClasses);
  std::erase_if(record.scores, [](const auto& score) { return score.name == "accuracy"; });
  if (is_calibrated(session) && !is_test) {
    record.scores.push_back(
        {"calibrated_log_loss",
         metrics::log_loss_at(session.state.temperature,
                              {evaluation.outputs, session.model.spec().num_outputs},
                              session.data.validation.classes)});
  }
  record.time_seconds = evaluation.time_seconds;
  append(record, output);
  return record;
}

void add_histograms(const Session& session, Output& output) {
  if (!output.events.is_open()) return;
  const TimedStage timed(Stage::kRecord);
  const model::FlatParameters& flat = session.model.parameters();
  const at::Tensor values = flat.values.cpu();
  const at::Tensor gradients = last_gradients(session).cpu();
  for (std::size_t i = 0; i < flat.specs.size(); ++i) {
    const auto size = static_cast<std::size_t>(flat.specs[i].num_elements());
    const auto add = [&](const std::string& tag, const at::Tensor& all) {
      const auto* begin = all.data_ptr<float>() + flat.offsets[i];
      output.events.add_histogram(tag, std::span(begin, size), session.state.position.step);
    };
    add(flat.specs[i].name, values);
    if (flat.is_trained[i]) add("gradients/" + flat.specs[i].name, gradients);
  }
}

void add_confusion(const Session& session, const Evaluation& evaluation, const data::Dataset& rows,
                   const char* split, Output& output) {
  const std::vector<std::string>& labels = session.data.schema.labels;
  const auto num_classes = std::ssize(labels);
  if (!output.events.is_open() || !is_classification(session) ||
      num_classes > tensorboard::kMaxDrawnClasses) {
    return;
  }
  const std::vector<int64_t> predicted =
      metrics::predicted_classes({evaluation.outputs, session.model.spec().num_outputs});
  tensorboard::add_confusion(metrics::confusion_matrix(rows.classes, predicted, num_classes),
                             labels, split, session.state.position.step, output.events);
}

metrics::Report make_report(const Session& session, const Evaluation& evaluation,
                            const data::Dataset& rows) {
  return metrics::make_report(labeled_outputs(session, evaluation, rows), evaluation.loss);
}

std::vector<metrics::Score> scores_of(const run::MetricsRecord& record) {
  std::vector<metrics::Score> scores = {{"loss", *record.loss}};
  if (record.accuracy) scores.push_back({"accuracy", *record.accuracy});
  scores.insert(scores.end(), record.scores.begin(), record.scores.end());
  return scores;
}

std::string score_text(const run::MetricsRecord& record, config::BestMetric decides) {
  const bool is_train = record.split == "train";
  const bool decides_alone =
      decides != config::BestMetric::kLoss && decides != config::BestMetric::kAccuracy;
  std::string text = is_train ? "" : "val";
  const auto add = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", name, value);
  };
  if (is_train || !decides_alone) add("loss", metrics::loss_text(*record.loss));
  if (is_train && decides_alone) return text;
  if (record.accuracy) add("acc", fmt::format("{:6.2f} %", 100 * *record.accuracy));
  const std::optional<double> r2 = metrics::find_score(record.scores, "r2");
  if (r2) add("R2", fmt::format("{:.4f}", *r2));
  const std::string name = config::to_text(decides);
  const std::optional<double> value = metrics::find_score(record.scores, name);
  if (value && decides != config::BestMetric::kR2) {
    add(decides == config::BestMetric::kCalibratedLogLoss ? "log loss" : metrics::shown_name(name),
        metrics::score_text({name, *value}));
  }
  return text;
}

}  // namespace trainer::train
