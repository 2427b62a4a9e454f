// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "trainer/data/dataset.h"
#include "trainer/train/session.h"

#include "workload.h"

/// The training that benchmarks measure.
namespace trainer::bench {

/// A session on made data, all of them for training.
inline std::unique_ptr<train::Session> make_session(const Workload& w, c10::Device device,
                                                    config::StepKind kind, int64_t num_threads,
                                                    config::Precision precision) {
  config::Config config;
  config.precision = precision;
  config.data.synthetic.num_samples = 20 * w.batch_size;
  config.data.synthetic.num_features = w.num_features;
  config.data.synthetic.num_classes = w.num_classes;
  // Classes that lie close: a loss that is nearly 0 would be nothing but rounding.
  config.data.synthetic.separation = 0.05;
  config.data.validation_fraction = 0;
  config.data.test_fraction = 0;
  config.model.hidden_sizes = w.hidden_sizes;
  config.training.batch_size = w.batch_size;
  config.training.schedule.name = config::ScheduleName::kConstant;
  config.training.step = kind;
  auto session = train::make_session(config, data::load_datasets(config.data, 42), device);
  train::use_threads(*session, num_threads);
  return session;
}

/// One step; the epoch begins again at its end. Waits for the device.
inline train::StepStats make_step(train::Session& session) {
  const train::StepStats stats = session.step->run(train::next_window(session), 1e-3);
  session.state.position.samples_in_epoch += stats.num_samples;
  if (session.state.position.samples_in_epoch == session.train.size()) {
    session.state.position.samples_in_epoch = 0;
  }
  return stats;
}

}  // namespace trainer::bench
