// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/network.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/nn/spec/mlp.h"

#include "support/numbers.h"

namespace trainer::cpu {
namespace {

using Numbers = std::vector<float>;

struct Options {
  config::Norm norm = config::Norm::kNone;
  int64_t hidden_size = 70;
  int64_t num_rows = 37;
  config::Precision precision = config::Precision::kFp32;
};

/// A network with memory of its own, in place of a model's, after a forward and a backward pass.
struct Model {
  Model(const Options& options, const Kernels& of_set, int64_t num_threads)
      : num_rows(options.num_rows),
        kernels(of_set),
        team(num_threads),
        spec(network::mlp({.num_features = 19,
                           .num_outputs = 5,
                           .hidden_sizes = std::vector<int64_t>(3, options.hidden_size),
                           .activation = config::Activation::kGelu,
                           .dropout = 0.25,
                           .norm = options.norm,
                           .residual = true})),
        features(test::some_numbers(num_rows * spec.num_features, 99)),
        ones(static_cast<std::size_t>(spec.num_features), 1.0F),
        zeros(static_cast<std::size_t>(spec.num_features), 0.0F),
        rows(static_cast<std::size_t>(num_rows)) {
    memory.reserve(64);  // the network keeps pointers into its elements
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<TensorMemory> tensors;
    for (const auto& tensor : network::parameters(spec)) tensors.push_back(parameter(tensor));
    for (const auto& tensor : network::buffers(spec)) tensors.push_back(buffer(tensor));
    network = std::make_unique<Network>(spec, tensors, num_rows, /*max_shards=*/1, team, kernels,
                                        options.precision);
    losses.resize(rows.size());
    correct.resize(rows.size());
    outputs.resize(rows.size() * 5);
    train();
  }

  void train() {
    const NetworkBatch batch{
        .source = {features.data(), nullptr, spec.num_features, zeros.data(), ones.data()},
        .rows = rows.data(),
        .num_rows = num_rows,
        .dropout_seed = 5};
    const auto loss = [&](int64_t first_row, const LossInput& input) {
      take_outputs(first_row, input);
    };
    team.run([&](int64_t thread) {
      network->train(thread, batch, sums_of_one_shard(num_rows), loss, [] {});
      network->parameter_gradients(thread, sums_of_one_shard(num_rows));
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
  void take_outputs(int64_t first_row, LossInput input) {
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

  int64_t num_rows;
  const Kernels& kernels;
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
    const Model one({.norm = GetParam()}, *kernels, 1);
    for (const int64_t num_threads : {2, 3, 7}) {
      const Model several({.norm = GetParam()}, *kernels, num_threads);
      EXPECT_EQ(several.outputs, one.outputs) << num_threads;
      EXPECT_EQ(several.all_gradients(), one.all_gradients()) << num_threads;
    }
  }
}

// 40,000 weights a layer are packed once for all threads, of which each takes 16 rows or more.
TEST(SharedWeightsTest, ThreadsThatShareThemGiveTheBitsOfOneThreadInEachPass) {
  for (const Kernels* kernels : all_kernels()) {
    for (const auto precision : {config::Precision::kFp32, config::Precision::kBf16}) {
      const Options options{.hidden_size = 200, .num_rows = 80, .precision = precision};
      for (const int64_t num_threads : {2, 3, 5}) {
        Model one(options, *kernels, 1);
        Model several(options, *kernels, num_threads);
        for (Model* model : {&one, &several}) {
          for (Numbers& numbers : model->memory) numbers.front() += 0.5F;  // weights, too
          model->train();
        }
        EXPECT_EQ(several.outputs, one.outputs) << kernels->name << ' ' << num_threads;
        EXPECT_EQ(several.all_gradients(), one.all_gradients()) << kernels->name;
      }
    }
  }
}

TEST_P(NetworkTest, InstructionSetsAgree) {
  const Model expected({.norm = GetParam()}, *all_kernels().front(), 1);
  const Numbers gradients = expected.all_gradients();
  double norm = 0;
  for (const float value : gradients)
    norm += static_cast<double>(value) * static_cast<double>(value);
  for (const Kernels* kernels : all_kernels()) {
    const Model actual({.norm = GetParam()}, *kernels, 1);
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
