// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trainer/config/load.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/train/engine/engine.h"

#include "support/quiet_log.h"

namespace trainer::test {

/// Six steps an epoch on 60 synthetic samples, two epochs.
inline constexpr const char* kSmallRun = R"(
device: cpu
threads: 1
data: {synthetic: {num_samples: 60, num_features: 5, num_classes: 3}}
model: {hidden_size: 8, dropout: 0.1, norm: batch}
training: {epochs: 2, batch_size: 8, learning_rate: 0.01}
checkpoint: {keep_last: 10}
logging: {save_interval: 1}
)";

/// A request to train with `yaml` and `overrides` ("key: value"), its runs below `folder`.
inline engine::TrainRequest make_request(
    const std::filesystem::path& folder, const std::string& yaml,
    const std::vector<std::pair<std::string, std::string>>& overrides = {}) {
  std::vector<config::Override> all = {{"output_dir", (folder / "runs").string(), "test"}};
  for (const auto& [key, value] : overrides) all.push_back({key, value, "test"});
  engine::TrainRequest request;
  request.config = config::load({{"test.yaml", yaml, folder}}, all);
  request.command_line = "trainer train";
  return request;
}

/// Continues from the checkpoint `file`.
inline engine::TrainRequest resumed_from(engine::TrainRequest request,
                                         const std::filesystem::path& file) {
  request.resume = checkpoint::ResumePoint{file, checkpoint::read(file), nullptr};
  return request;
}

/// engine::train() without its messages on the console.
inline engine::TrainReport train_quietly(const engine::TrainRequest& request) {
  const QuietLog quiet;
  return engine::train(request);
}

}  // namespace trainer::test
