// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/step_time.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "trainer/base/philox.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/nn/cpu/network.h"

namespace trainer::cpu {
namespace {

/// Tensors of a network with random values, and memory for their gradients.
class RandomTensors {
 public:
  explicit RandomTensors(const network::NetworkSpec& spec) {
    PhiloxStream random(/*seed=*/1, StreamId::kSynthetic);
    for (const network::TensorSpec& tensor : network::tensors(spec)) {
      auto& values = memory_.emplace_back(static_cast<std::size_t>(tensor.num_elements()));
      for (float& value : values) value = static_cast<float>(random.normal() / 16);
      auto& gradients = memory_.emplace_back(values.size());
      tensors_.push_back({.value = memory_[memory_.size() - 2].data(), .update = gradients.data()});
    }
  }

  const std::vector<TensorMemory>& tensors() const { return tensors_; }

 private:
  std::vector<std::vector<float>> memory_;
  std::vector<TensorMemory> tensors_;
};

std::vector<float> random_features(int64_t count) {
  PhiloxStream random(/*seed=*/2, StreamId::kSynthetic);
  std::vector<float> features(static_cast<std::size_t>(count));
  for (float& feature : features) feature = static_cast<float>(random.normal());
  return features;
}

}  // namespace

double measure_step(const network::NetworkSpec& spec, int64_t batch_size, int64_t num_threads) {
  constexpr double kTrialSeconds = 0.1;
  static constexpr float kGradient = 1e-3F;  // gradient of each output
  const RandomTensors memory(spec);
  ThreadTeam team(num_threads);
  Network network(spec, memory.tensors(), batch_size, /*max_shards=*/1, team, kernels());
  const RowSums sums = sums_of_one_shard(batch_size);
  const std::vector<float> features = random_features(batch_size * spec.num_features);
  const std::vector<float> zeros(static_cast<std::size_t>(spec.num_features));
  const std::vector<float> ones(zeros.size(), 1.0F);
  std::vector<int64_t> rows(static_cast<std::size_t>(batch_size));
  std::iota(rows.begin(), rows.end(), 0);
  const NetworkBatch batch{.source = {.floats = features.data(),
                                      .num_features = spec.num_features,
                                      .shift = zeros.data(),
                                      .scale = ones.data()},
                           .rows = rows.data(),
                           .num_rows = batch_size};
  const auto loss = [](int64_t, const LossInput& input) {
    for (int64_t row = 0; row < input.tile.num_rows; ++row) {
      std::fill_n(input.outputs + row * input.tile.stride, input.tile.num_columns, kGradient);
    }
  };
  double shortest = std::numeric_limits<double>::infinity();
  const Stopwatch all;
  do {
    const Stopwatch one;
    team.run([&](int64_t thread) {
      network.train(thread, batch, sums, loss, [] {});
      network.parameter_gradients(thread, sums);
    });
    shortest = std::min(shortest, one.seconds());
  } while (all.seconds() < kTrialSeconds);
  return shortest;
}

}  // namespace trainer::cpu
