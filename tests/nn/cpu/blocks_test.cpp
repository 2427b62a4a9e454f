// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/blocks.h"

#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/nn/spec/mlp.h"

#include "support/error_of.h"

namespace trainer::cpu {
namespace {

/// Tensors of which the value of the i-th is the i-th of `numbers`.
std::vector<TensorMemory> tensor_memory(const network::NetworkSpec& network,
                                        std::vector<float>& numbers) {
  numbers.assign(network::tensors(network).size(), 0.0F);
  std::vector<TensorMemory> tensors;
  for (float& number : numbers) tensors.push_back({&number, &number});
  return tensors;
}

TEST(BlocksTest, TakeTheLayersAndTheTensorsOfAnMlp) {
  const network::NetworkSpec network = network::mlp({.num_features = 4,
                                                     .num_outputs = 3,
                                                     .hidden_sizes = {8, 8},
                                                     .activation = config::Activation::kTanh,
                                                     .dropout = 0.25,
                                                     .norm = config::Norm::kBatch,
                                                     .residual = true,
                                                     .embeddings = {{6, 3}}});
  std::vector<float> numbers;
  const Blocks blocks = make_blocks(network, tensor_memory(network, numbers));
  ASSERT_EQ(blocks.tables.size(), 1U);
  EXPECT_EQ(blocks.tables[0].weight.value, &numbers[0]);
  EXPECT_EQ(blocks.tables[0].num_rows, 6);
  ASSERT_EQ(blocks.blocks.size(), 3U);
  const Block& second = blocks.blocks[1];
  EXPECT_FALSE(blocks.blocks[0].has_skip);
  EXPECT_TRUE(second.has_skip);
  EXPECT_EQ(second.weight.value, &numbers[5]);
  EXPECT_EQ(second.norm_bias.value, &numbers[8]);
  EXPECT_EQ(second.running_mean.value, &numbers[13]);
  EXPECT_EQ(second.running_var.value, &numbers[14]);
  EXPECT_EQ(second.activation, config::Activation::kTanh);
  EXPECT_EQ(second.dropout, 0.25);
  EXPECT_EQ(second.dropout_stream, 1U);
  EXPECT_EQ(blocks.blocks[2].num_outputs, 3);
  EXPECT_EQ(blocks.blocks[2].bias.value, &numbers[10]);
}

TEST(BlocksTest, AnotherOrderOfLayersIsRefused) {
  network::NetworkSpec network =
      network::mlp({.num_features = 4, .num_outputs = 3, .hidden_sizes = {8}});
  std::swap(network.layers[0], network.layers[1]);
  std::vector<float> numbers;
  const std::vector<TensorMemory> tensors = tensor_memory(network, numbers);
  const Error error = test::error_of([&] { make_blocks(network, tensors); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(),
               "the CPU kernels expect a linear layer as layer 0 of this network; set "
               "training.step: autograd");
}

}  // namespace
}  // namespace trainer::cpu
