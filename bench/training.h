// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "trainer/table/dataset.h"
#include "trainer/train/session.h"

#include "workload.h"

/// The training sessions of the benchmarks.
namespace trainer::bench {

/// A configuration with synthetic data, all of it for training.
inline config::Config make_config(const Workload& w) {
  config::Config config;
  config.data.synthetic.num_samples = 20 * w.batch_size;
  config.data.synthetic.num_features = w.num_features;
  config.data.synthetic.num_classes = w.num_classes;
  // Close classes: a loss near 0 would consist of rounding errors.
  config.data.synthetic.separation = 0.05;
  config.data.validation_fraction = 0;
  config.data.test_fraction = 0;
  config.model.hidden_sizes = w.hidden_sizes;
  config.training.batch_size = w.batch_size;
  config.training.schedule.name = config::ScheduleName::kConstant;
  if (w.change != nullptr) w.change(config);
  return config;
}

/// The session of such a configuration.
inline std::unique_ptr<train::Session> make_session(const Workload& w, c10::Device device,
                                                    config::StepKind kind, int64_t num_threads,
                                                    config::Precision precision) {
  config::Config config = make_config(w);
  config.training.step = kind;
  config.precision = precision;
  auto session = train::make_session(config, data::load_datasets(config.data, 42), device);
  train::use_threads(*session, num_threads);
  return session;
}

/// Runs one step, and starts a new epoch after the last one. Waits for the device.
inline train::StepStats make_step(train::Session& session) {
  const train::StepStats stats =
      session.step->run(train::next_window(session), {.learning_rate = 1e-3});
  session.state.position.samples_in_epoch += stats.num_samples;
  if (session.state.position.samples_in_epoch == session.train.size()) {
    session.state.position.samples_in_epoch = 0;
  }
  return stats;
}

}  // namespace trainer::bench
