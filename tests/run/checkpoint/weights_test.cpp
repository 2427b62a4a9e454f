// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/weights.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/archive/archive.h"
#include "trainer/base/archive/safetensors.h"
#include "trainer/base/error.h"
#include "trainer/nn/spec/mlp.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::checkpoint {
namespace {

using archive::Dict;
using test::float_data;
using Names = std::vector<std::string>;

const network::NetworkSpec kNetwork = network::mlp(
    {.num_features = 2, .num_outputs = 1, .hidden_sizes = {1, 1}, .norm = config::Norm::kBatch});

class WeightsTest : public testing::Test {
 protected:
  Names names_in(const Dict& root) const {
    archive::save(path_, root);
    Names names;
    for (const NamedTensor& named : read_weights(path_, kNetwork)) names.push_back(named.name);
    return names;
  }

  test::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "weights.pt";
};

const archive::TensorData kMatrix = float_data({1, 2}, {1, 2});
const archive::TensorData kVector = float_data({1}, {3});

TEST_F(WeightsTest, ComeFromACheckpoint) {
  write(path_, test::full_checkpoint());
  const std::vector<NamedTensor> weights = read_weights(path_, kNetwork);
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights[0].name, "layers.0.weight");
  EXPECT_EQ(weights[0].tensor.shape, (std::vector<int64_t>{2, 3}));
}

TEST_F(WeightsTest, ComeFromAStateDictAloneOrUnderItsUsualNames) {
  const Dict state = {{"layers.0.weight", kMatrix}, {"layers.0.bias", kVector}};
  const Names expected = {"layers.0.weight", "layers.0.bias"};
  EXPECT_EQ(names_in(state), expected);
  EXPECT_EQ(names_in({{"epoch", 3}, {"model", state}}), expected);
  EXPECT_EQ(names_in({{"state_dict", state}}), expected);
  EXPECT_EQ(names_in({{"model_state_dict", state}, {"loss", 0.5}}), expected);
}

TEST_F(WeightsTest, TheCountersOfBatchNormAreLeftOut) {
  EXPECT_EQ(names_in({{"norms.0.weight", kVector}, {"norms.0.num_batches_tracked", kVector}}),
            (Names{"norms.0.weight"}));
}

// nn.Sequential(Linear, BatchNorm1d, ReLU, Linear, ReLU, Linear).
TEST_F(WeightsTest, TheModulesOfASequentialAreNamedByTheirOrder) {
  EXPECT_EQ(names_in({{"0.weight", kMatrix},
                      {"0.bias", kVector},
                      {"1.weight", kVector},
                      {"1.bias", kVector},
                      {"1.running_mean", kVector},
                      {"1.running_var", kVector},
                      {"1.num_batches_tracked", kVector},
                      {"3.weight", kMatrix},
                      {"3.bias", kVector},
                      {"10.weight", kMatrix},
                      {"10.bias", kVector}}),
            (Names{"layers.0.weight", "layers.0.bias", "norms.0.weight", "norms.0.bias",
                   "norms.0.running_mean", "norms.0.running_var", "layers.1.weight",
                   "layers.1.bias", "layers.2.weight", "layers.2.bias"}));
}

TEST_F(WeightsTest, NamesThatAreNotAllNumbersStay) {
  const Names names = {"0.weight", "head.weight"};
  EXPECT_EQ(names_in({{"0.weight", kMatrix}, {"head.weight", kMatrix}}), names);
}

TEST_F(WeightsTest, ComeFromASafetensorsFileWhateverItIsCalled) {
  archive::Safetensors content;
  content.tensors = {{"0.weight", kMatrix},
                     {"0.bias", {archive::DType::kBFloat16, {1}, kVector.data, kVector.owner}},
                     {"1.num_batches_tracked", {archive::DType::kInt64, {0}, nullptr, nullptr}}};
  for (const char* name : {"weights.safetensors", "weights.pt"}) {
    const std::filesystem::path path = folder_.path() / name;
    archive::write_safetensors(path, content);
    const std::vector<NamedTensor> weights = read_weights(path, kNetwork);
    ASSERT_EQ(weights.size(), 2U);
    EXPECT_EQ(weights[0].name, "layers.0.weight");
    EXPECT_EQ(weights[0].tensor.shape, (std::vector<int64_t>{1, 2}));
    EXPECT_EQ(weights[1].tensor.dtype, archive::DType::kBFloat16);
  }
}

TEST_F(WeightsTest, AFileWithoutAStateDictIsRefused) {
  archive::save(path_, {{"epoch", 3}, {"model", Dict{{"layers", 2}}}});
  const Error error = test::error_of([&] { read_weights(path_, kNetwork); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  EXPECT_EQ(
      error.what(),
      path_.string() +
          ": expected a state dict, or one under \"model\", \"state_dict\" or "
          "\"model_state_dict\", found none; save it with torch.save(model.state_dict(), path)");
}

}  // namespace
}  // namespace trainer::checkpoint
