// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/session.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include "trainer/config/fields.h"
#include "trainer/core/error.h"
#include "trainer/core/process_memory.h"
#include "trainer/core/text.h"
#include "trainer/cpu/cpus.h"
#include "trainer/data/order.h"
#include "trainer/device/random.h"
#include "trainer/device/threads.h"
#include "trainer/model/init.h"
#include "trainer/network/build.h"
#include "trainer/optim/scaler.h"
#include "trainer/train/out_of_memory.h"

namespace trainer::train {
namespace {

model::NetworkOptions network_options(const config::Config& config) {
  return {.freeze = config.training.freeze,
          .precision = config.precision,
          .activation_checkpointing = config.model.activation_checkpointing};
}

model::LossOptions loss_options(const config::TrainingConfig& training, config::Task task) {
  return {config::loss_for(training.loss, task), training.label_smoothing, training.huber_delta};
}

optim::OptimizerOptions optimizer_options(const config::TrainingConfig& training) {
  const config::OptimizerConfig& optimizer = training.optimizer;
  return {optimizer.name,     optimizer.weight_decay, optimizer.decay_bias_and_norm,
          optimizer.momentum, optimizer.nesterov,     optimizer.beta1,
          optimizer.beta2,    optimizer.epsilon,      training.ema_decay};
}

// Combinations that only the data show; `data.task: auto` hides them from the configuration.
void check_task(const config::Config& config, const data::Schema& schema) {
  const config::TrainingConfig& training = config.training;
  const bool regression = schema.task == config::Task::kRegression;
  const std::string loss = "training.loss: " + config::to_text(config.training.loss);
  std::string problem;
  if (regression && config::is_for_classes(training.loss)) {
    problem = loss + " needs classes; set data.task: classification";
  } else if (!regression && config::is_for_regression(training.loss)) {
    problem = loss + " needs a number; set data.task: regression";
  } else if (training.loss == config::Loss::kBinaryCrossEntropy && schema.labels.size() != 2) {
    problem = fmt::format("{} is for two classes, got {}; set training.loss: cross_entropy", loss,
                          schema.labels.size());
  } else if (!config::fits_task(training.best_metric, schema.task)) {
    problem = fmt::format("training.best_metric: {} has no {}; use loss",
                          regression ? "regression" : "classification",
                          config::to_text(config.training.best_metric));
  } else if (training.best_metric == config::BestMetric::kBinaryF1 && schema.labels.size() != 2) {
    problem = fmt::format("training.best_metric: binary_f1 is for two classes, got {}; use f1",
                          schema.labels.size());
  } else if (regression && training.label_smoothing > 0) {
    problem = "training.label_smoothing: it is for cross-entropy; remove it for regression";
  }
  if (problem.empty()) return;
  throw Error(ErrorKind::kUsage, fmt::format("{} (the target \"{}\" was taken for {})", problem,
                                             fmt::join(schema.target_names, "\", \""),
                                             regression ? "regression" : "classification"));
}

// Training records have a loss and an accuracy only, a ranking needs two classes and R2 two rows.
void check_best_metric(const config::Config& config, const data::Dataset& validation) {
  const config::BestMetric metric = config.training.best_metric;
  if (metric == config::BestMetric::kLoss || metric == config::BestMetric::kAccuracy) return;
  const std::string name = config::to_text(config.training.best_metric);
  if (validation.size() == 0) {
    throw Error(ErrorKind::kUsage,
                fmt::format("training.best_metric: {} needs a validation part; set "
                            "data.validation_fraction above 0, or use loss",
                            name));
  }
  const std::vector<int64_t>& classes = validation.classes;
  const bool ranks = metric == config::BestMetric::kAuroc || metric == config::BestMetric::kPrAuc;
  if (ranks && std::equal(classes.begin() + 1, classes.end(), classes.begin())) {
    throw Error(ErrorKind::kUsage,
                fmt::format("training.best_metric: {} needs two classes in the validation part, "
                            "and all of its rows are of one; set a larger "
                            "data.validation_fraction, or use loss",
                            name));
  }
  if (metric == config::BestMetric::kR2 && validation.size() == 1) {
    throw Error(ErrorKind::kUsage,
                "training.best_metric: r2 needs two rows in the validation part, got one; set a "
                "larger data.validation_fraction, or use loss");
  }
}

// The variance of one row is not defined, and the running variance would become NaN.
void check_batch_norm(const config::Config& config, int64_t num_train) {
  if (config.model.norm != config::Norm::kBatch) return;
  const int64_t batch_size = config.training.batch_size;
  if (std::min(batch_size, num_train) > 1 && num_train % batch_size != 1) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("training.batch_size: {} training rows in batches of {} leave a batch of "
                          "one row, and model.norm: batch needs two; choose another batch size",
                          num_train, batch_size));
}

bool has_kernels(const config::Config& config, c10::Device device) {
  return device.is_cpu() && config.precision == config::Precision::kFp32 &&
         !config.model.activation_checkpointing;
}

// What was asked for by name is not replaced without a word.
void check_step(const config::Config& config, c10::Device device) {
  if (config.training.step != config::StepKind::kFused || has_kernels(config, device)) return;
  throw Error(ErrorKind::kUsage,
              fmt::format("training.step: fused computes in fp32 on the CPU; this run computes in "
                          "{} on {}; set training.step: auto",
                          config::to_text(config.precision), device.str()));
}

// A pattern that fits nothing would be a run that is not what its user believes.
void check_patterns(const char* key, const std::vector<std::string>& patterns,
                    const std::vector<std::string>& names) {
  for (const std::string& pattern : patterns) {
    const auto fits = [&](const std::string& name) { return matches_any(name, {&pattern, 1}); };
    if (std::any_of(names.begin(), names.end(), fits)) continue;
    throw Error(ErrorKind::kUsage, fmt::format("{}: no parameter fits {}; there are {}", key,
                                               in_quotes(pattern), joined(names)));
  }
}

void check_names(const Session& session) {
  const model::FlatParameters& flat = session.model.parameters();
  std::vector<std::string> names;
  for (const network::TensorSpec& spec : flat.specs) names.push_back(spec.name);
  check_patterns("training.freeze", session.config.training.freeze, names);
  if (flat.num_trained == 0) {
    throw Error(ErrorKind::kUsage,
                "training.freeze: every parameter is frozen; leave at least one to be trained");
  }
  for (const model::NamedTensor& buffer : session.model.buffers()) names.push_back(buffer.name);
  check_patterns("model.init_skip", session.config.model.init_skip, names);
}

std::unique_ptr<TrainStep> make_step(Session& session, int64_t num_threads) {
  const config::TrainingConfig& training = session.config.training;
  const StepContext context{
      session.model, session.optimizer_state,     session.optimizer,
      session.loss,  training.gradient_clip_norm, session.scaler ? &*session.scaler : nullptr};
  return uses_kernels(session) ? make_fused_step(context, rows_at_once(session), num_threads)
                               : make_autograd_step(context);
}

}  // namespace

Session::Session(const config::Config& run_config, data::Datasets datasets, c10::Device run_device)
    : config(run_config),
      data(std::move(datasets)),
      device(run_device),
      model(network::build(config, data.schema), network_options(config), device) {
  model::initialize(model, static_cast<uint64_t>(config.seed));
}

std::unique_ptr<Session> make_session(const config::Config& config, data::Datasets datasets,
                                      c10::Device device) {
  check_task(config, datasets.schema);
  check_best_metric(config, datasets.validation);
  check_batch_norm(config, datasets.train.size());
  check_step(config, device);
  // What is forgotten between two layers must not be kept by the allocator.
  if (config.model.activation_checkpointing) return_freed_blocks();
  auto session = std::make_unique<Session>(config, std::move(datasets), device);
  Session& s = *session;
  check_names(s);
  s.loss = loss_options(config.training, s.data.schema.task);
  s.optimizer = optimizer_options(config.training);
  if (config.precision == config::Precision::kFp16) s.scaler = optim::kFirstScaler;
  s.optimizer_state = optim::make_state(s.optimizer, s.model.parameters());
  s.train = make_resident(s.data.train, s.data.schema, device);
  if (s.data.validation.size() > 0) {
    s.validation = make_resident(s.data.validation, s.data.schema, device);
  }
  if (s.data.test.size() > 0) s.test = make_resident(s.data.test, s.data.schema, device);
  s.schedule = plan::schedule_options(config.training, s.train.size());
  if (s.schedule.name == config::ScheduleName::kReduceOnPlateau) s.plateau.emplace();
  use_threads_within_memory(s, 1);
  return session;
}

bool uses_kernels(const Session& session) {
  return session.config.training.step != config::StepKind::kAutograd &&
         has_kernels(session.config, session.device);
}

void use_threads(Session& session, int64_t num_threads) {
  const bool has_own_threads = uses_kernels(session);
  device::use_threads(has_own_threads ? 1 : num_threads);
  session.step.reset();  // its memory may be needed
  session.step = make_step(session, num_threads);
}

int64_t rows_at_once(const Session& session) {
  const int64_t all = std::min(session.config.training.batch_size, session.train.size());
  const int64_t allowed = session.recoveries.rows_at_once;
  return allowed == 0 ? all : std::min(allowed, all);
}

void split_batches(Session& session) {
  session.recoveries.rows_at_once = (rows_at_once(session) + 1) / 2;
  ++session.recoveries.out_of_memory;
}

void move_to_cpu(Session& session) {
  const checkpoint::Checkpoint state = snapshot(session);
  const float grad_norm = session.interval.grad_norm;
  auto moved = make_session(session.config, std::move(session.data), c10::kCPU);
  restore(*moved, state);
  session = std::move(*moved);
  session.interval.grad_norm = grad_norm;
  session.recoveries.rows_at_once = 0;
  ++session.recoveries.out_of_memory;
  use_threads(session, cpu::usable_cpus());  // the step that was moved works on what is no more
}

bool stopped_early(const Session& session) {
  const int64_t patience = session.config.training.early_stopping.patience;
  return patience > 0 && session.epochs_without_improvement >= patience;
}

void forget_best(Session& session) {
  session.best.reset();
  session.epochs_without_improvement = 0;
}

bool finished(const Session& session) {
  return session.position.epoch >= session.config.training.epochs || stopped_early(session);
}

Window next_window(Session& session) {
  const auto seed = static_cast<uint64_t>(session.config.seed);
  if (session.order_epoch != session.position.epoch) {
    std::vector<int64_t> order =
        data::epoch_order(session.train.size(), seed, session.position.epoch);
    session.order =
        at::from_blob(order.data(), {session.train.size()}, at::kLong).clone().to(session.device);
    session.order_epoch = session.position.epoch;
  }
  const int64_t begin = session.position.samples_in_epoch;
  const int64_t count =
      std::min(plan::samples_per_step(session.config.training, session.train.size()),
               session.train.size() - begin);
  return {session.train, session.order,         begin,
          count,         rows_at_once(session), device::dropout_seed(seed, session.position.step)};
}

double learning_rate_at(const Session& session, int64_t step) {
  // Each rollback halved it.
  const int64_t reductions = session.plateau ? session.plateau->num_reductions : 0;
  return std::ldexp(plan::learning_rate(session.schedule, step, reductions),
                    -static_cast<int>(session.recoveries.rollbacks));
}

double next_learning_rate(const Session& session) {
  return learning_rate_at(session, session.position.step);
}

void advance(Session& session, const StepStats& stats) {
  ++session.position.step;
  session.position.samples_in_epoch += stats.num_samples;
  if (session.scaler) session.scaler = optim::after_step(*session.scaler, stats.is_finite);
  if (!stats.is_finite) {
    ++session.recoveries.skipped_steps;
    return;
  }
  session.interval.loss_sum += stats.loss_sum;
  session.interval.num_correct += stats.num_correct;
  session.interval.grad_norm = stats.grad_norm;
  session.interval.num_samples += stats.num_samples;
}

}  // namespace trainer::train
