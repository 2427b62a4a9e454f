// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/data/dataset.h"
#include "trainer/train/session.h"

/// The training that benchmarks measure.
namespace trainer::bench {

struct Workload {
  std::string name;
  int64_t num_features;
  std::vector<int64_t> hidden_sizes;
  int64_t num_classes;
  int64_t batch_size;
};

/// A session on made data, all of them for training.
inline std::unique_ptr<train::Session> make_session(const Workload& w, c10::Device device,
                                                    config::StepKind kind, int64_t num_threads) {
  config::Config config;
  config.data.synthetic.num_samples = 20 * w.batch_size;
  config.data.synthetic.num_features = w.num_features;
  config.data.synthetic.num_classes = w.num_classes;
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
  session.position.samples_in_epoch += stats.num_samples;
  if (session.position.samples_in_epoch == session.train.size()) {
    session.position.samples_in_epoch = 0;
  }
  return stats;
}

}  // namespace trainer::bench
