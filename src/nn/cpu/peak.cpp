// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/peak.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "trainer/base/philox.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/network.h"
#include "trainer/nn/cpu/thread_team.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kDepth = 256;

// Products of one tile of the largest size, because smaller tiles may be limited by the latency of
// their sums.
class TileProducts {
 public:
  explicit TileProducts(const Kernels& of_machine)
      : kernels_(of_machine),
        a_(of_machine.tile_rows * kDepth),
        b_(kDepth * of_machine.panel_columns),
        c_(of_machine.tile_rows * of_machine.panel_columns),
        scratch_(of_machine.scratch_floats) {}

  // Returns the operations per second of some products, measured for about 2 ms.
  double measure() {
    constexpr int64_t kFlops = 200'000'000;
    const int64_t flops = 2 * kernels_.tile_rows * kDepth * kernels_.panel_columns;
    const int64_t repetitions = kFlops / flops;
    const Stopwatch stopwatch;
    for (int64_t i = 0; i < repetitions; ++i) {
      kernels_.multiply({.num_rows = kernels_.tile_rows,
                         .num_columns = kernels_.panel_columns,
                         .depth = kDepth,
                         .a = a_.get(),
                         .a_row = kDepth,
                         .b = b_.get(),
                         .b_depth = kernels_.panel_columns,
                         .c = c_.get(),
                         .c_row = kernels_.panel_columns},
                        scratch_.get());
    }
    return static_cast<double>(repetitions * flops) / stopwatch.seconds();
  }

 private:
  const Kernels& kernels_;
  Buffer a_;
  Buffer b_;
  Buffer c_;
  Buffer scratch_;
};

// Adds the best try of each thread while the others work too. The tries are short and many: on a
// machine that other programs use, a thread is undisturbed in some of them, but all threads
// together rarely are.
double measure_flops(ThreadTeam& team) {
  constexpr int kTries = 25;
  std::vector<double> best(static_cast<std::size_t>(team.num_threads()));
  team.run([&](int64_t thread) {
    TileProducts products(kernels());
    double& of_thread = best[static_cast<std::size_t>(thread)];
    for (int i = 0; i < kTries; ++i) of_thread = std::max(of_thread, products.measure());
  });
  return std::accumulate(best.begin(), best.end(), 0.0);
}

double measure_bytes(ThreadTeam& team) {
  constexpr int kTries = 5;
  constexpr int64_t kFloats = 8 << 20;
  constexpr int64_t kArrays = 3;
  constexpr float kFactor = 3;
  const Buffer a(kFloats);
  const Buffer b(kFloats);
  const Buffer c(kFloats);
  const int64_t part = ceil_div(kFloats, team.num_threads());
  double shortest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const Stopwatch stopwatch;
    team.run([&](int64_t thread) {
      const int64_t end = std::min(kFloats, (thread + 1) * part);
      float* to = a.get();
      const float* x = b.get();
      const float* y = c.get();
      for (int64_t j = thread * part; j < end; ++j) to[j] = x[j] + kFactor * y[j];
    });
    shortest = std::min(shortest, stopwatch.seconds());
  }
  return static_cast<double>(kArrays * kFloats * static_cast<int64_t>(sizeof(float))) / shortest;
}

}  // namespace

double measure_flops(int64_t num_threads) {
  ThreadTeam team(num_threads);
  return measure_flops(team);
}

Peak measure_peak(int64_t num_threads) {
  ThreadTeam team(num_threads);
  return {.flops_per_second = measure_flops(team), .bytes_per_second = measure_bytes(team)};
}

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
