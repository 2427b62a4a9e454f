// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/network.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/network/mlp.h"

#include "support/numbers.h"

namespace trainer::cpu {
namespace {

using Numbers = std::vector<float>;

constexpr int64_t kRows = 37;

/// A network with memory of its own, in place of a model's.
struct Model {
  Model(config::Norm norm, const Kernels& kernels, int64_t num_threads)
      : team(num_threads),
        spec(network::mlp({.num_features = 19,
                           .num_outputs = 5,
                           .hidden_sizes = {70, 70, 70},
                           .activation = config::Activation::kGelu,
                           .dropout = 0.25,
                           .norm = norm,
                           .residual = true})),
        features(test::some_numbers(kRows * spec.num_features, 99)),
        ones(static_cast<std::size_t>(spec.num_features), 1.0F),
        zeros(static_cast<std::size_t>(spec.num_features), 0.0F),
        rows(kRows) {
    memory.reserve(64);  // the network keeps pointers into its elements
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<TensorMemory> tensors;
    for (const auto& tensor : network::parameters(spec)) tensors.push_back(parameter(tensor));
    for (const auto& tensor : network::buffers(spec)) tensors.push_back(buffer(tensor));
    network = std::make_unique<Network>(spec, tensors, kRows, /*max_shards=*/1, team, kernels);
    losses.resize(kRows);
    correct.resize(kRows);
    outputs.resize(kRows * 5);
    const NetworkBatch batch{
        .source = {features.data(), nullptr, spec.num_features, zeros.data(), ones.data()},
        .rows = rows.data(),
        .num_rows = kRows,
        .dropout_seed = 5};
    const auto loss = [&](int64_t first_row, const LossInput& input) {
      take_outputs(kernels, first_row, input);
    };
    team.run([&](int64_t thread) {
      network->train(thread, batch, sums_of_one_shard(kRows), loss, [] {});
      network->parameter_gradients(thread, sums_of_one_shard(kRows));
    });
  }

  float* add(Numbers numbers) {
    memory.push_back(std::move(numbers));
    return memory.back().data();
  }

  TensorMemory parameter(const network::TensorSpec& tensor) {
    const int64_t size = tensor.num_elements();
    const float* value = add(test::some_numbers(size, memory.size()));
    gradients.push_back({add(Numbers(static_cast<std::size_t>(size))), size});
    return {value, gradients.back().data};
  }

  TensorMemory buffer(const network::TensorSpec& tensor) {
    float* values = add(Numbers(static_cast<std::size_t>(tensor.num_elements()),
                                static_cast<float>(tensor.init.value)));
    return {values, values};
  }

  // The loss is half the sum of the squared outputs: its gradient is the outputs themselves.
  void take_outputs(const Kernels& kernels, int64_t first_row, LossInput input) {
    const int64_t count = input.tile.num_rows;
    const Numbers targets(static_cast<std::size_t>(count * 5), 0.0F);
    input.gradient_scale = 2.5F;
    kernels.regression_loss(config::Loss::kMse, input, targets.data(),
                            {losses.data() + first_row, correct.data() + first_row});
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(input.outputs + i * input.tile.stride, 5, outputs.data() + (first_row + i) * 5);
    }
  }

  Numbers all_gradients() const {
    Numbers all;
    for (const auto& [data, size] : gradients) all.insert(all.end(), data, data + size);
    return all;
  }

  struct Gradient {
    float* data;
    int64_t size;
  };

  ThreadTeam team;
  network::NetworkSpec spec;
  Numbers features, ones, zeros;
  std::vector<int64_t> rows;
  std::vector<Numbers> memory;
  std::vector<Gradient> gradients;
  Numbers outputs, losses;
  std::vector<int32_t> correct;
  std::unique_ptr<Network> network;
};

class NetworkTest : public testing::TestWithParam<config::Norm> {};

INSTANTIATE_TEST_SUITE_P(Norms, NetworkTest,
                         testing::Values(config::Norm::kNone, config::Norm::kBatch,
                                         config::Norm::kLayer),
                         [](const auto& test) { return std::to_string(test.index); });

TEST_P(NetworkTest, AnyNumberOfThreadsGivesTheSameBits) {
  for (const Kernels* kernels : all_kernels()) {
    const Model one(GetParam(), *kernels, 1);
    for (const int64_t num_threads : {2, 3, 7}) {
      const Model several(GetParam(), *kernels, num_threads);
      EXPECT_EQ(several.outputs, one.outputs) << num_threads;
      EXPECT_EQ(several.all_gradients(), one.all_gradients()) << num_threads;
    }
  }
}

TEST_P(NetworkTest, InstructionSetsAgree) {
  const Model expected(GetParam(), *all_kernels().front(), 1);
  const Numbers gradients = expected.all_gradients();
  double norm = 0;
  for (const float value : gradients)
    norm += static_cast<double>(value) * static_cast<double>(value);
  for (const Kernels* kernels : all_kernels()) {
    const Model actual(GetParam(), *kernels, 1);
    ASSERT_EQ(actual.outputs.size(), expected.outputs.size());
    for (std::size_t i = 0; i < expected.outputs.size(); ++i) {
      ASSERT_NEAR(actual.outputs[i], expected.outputs[i],
                  1e-5F * std::abs(expected.outputs[i]) + 1e-4F)
          << i;
    }
    const Numbers others = actual.all_gradients();
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      ASSERT_NEAR(others[i], gradients[i], static_cast<float>(1e-6 * std::sqrt(norm))) << i;
    }
  }
}

}  // namespace
}  // namespace trainer::cpu
