// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/spec/spec.h"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "trainer/nn/spec/mlp.h"

namespace trainer::network {
namespace {

using Texts = std::vector<std::string>;

// Every kind of layer.
MlpOptions rich_options() {
  return {.num_features = 4,
          .num_outputs = 3,
          .hidden_sizes = {8, 8},
          .activation = config::Activation::kGelu,
          .dropout = 0.25,
          .norm = config::Norm::kBatch,
          .residual = true,
          .embeddings = {{6, 3}, {5, 2}}};
}

Texts names_and_shapes(const std::vector<TensorSpec>& tensors) {
  Texts texts;
  for (const TensorSpec& tensor : tensors) {
    texts.push_back(fmt::format("{} [{}]", tensor.name, fmt::join(tensor.shape, ", ")));
  }
  return texts;
}

TEST(NetworkSpecTest, TensorsAreNamedInTheOrderOfTheLayersBuffersLast) {
  const NetworkSpec network = mlp(rich_options());
  EXPECT_EQ(names_and_shapes(tensors(network)),
            (Texts{"embeddings.0.weight [6, 3]", "embeddings.1.weight [5, 2]",
                   "layers.0.weight [8, 7]", "layers.0.bias [8]", "norms.0.weight [8]",
                   "norms.0.bias [8]", "layers.1.weight [8, 8]", "layers.1.bias [8]",
                   "norms.1.weight [8]", "norms.1.bias [8]", "layers.2.weight [3, 8]",
                   "layers.2.bias [3]", "norms.0.running_mean [8]", "norms.0.running_var [8]",
                   "norms.1.running_mean [8]", "norms.1.running_var [8]"}));
}

TEST(NetworkSpecTest, PartsBeforeTheFirstLayerWidenItsInput) {
  MlpOptions options = rich_options();
  options.norm = config::Norm::kNone;
  options.hidden_sizes = {8};
  options.residual = false;
  options.numeric_embedding = config::NumericEmbedding::kPeriodic;
  options.embedded_features = {1};
  options.input_scale = true;
  options.parametric_activation = true;
  const NetworkSpec network = mlp(options);
  EXPECT_EQ(names_and_shapes(tensors(network)),
            (Texts{"embeddings.0.weight [6, 3]", "embeddings.1.weight [5, 2]",
                   "numeric_embeddings.frequencies [1, 16]", "numeric_embeddings.phases [1, 16]",
                   "numeric_embeddings.weight [1, 16, 3]", "numeric_embeddings.bias [1, 3]",
                   "input_scale.weight [10]", "layers.0.weight [8, 10]", "layers.0.bias [8]",
                   "activations.0.weight [8]", "layers.1.weight [3, 8]", "layers.1.bias [3]"}));
  EXPECT_EQ(summary(network),
            "10-8-3 parametric gelu, dropout 0.25, embeddings 6x3 and 5x2, periodic embeddings "
            "1x3, input scale");
  EXPECT_EQ(
      layer_lines(network),
      (Texts{"numeric_embeddings: periodic, 1 of size 3 with 16 frequencies", "input_scale: 10",
             "layers.0: 10 -> 8, parametric gelu, dropout 0.25", "layers.1: 8 -> 3"}));
}

TEST(NetworkSpecTest, PiecewiseLinearEmbeddingsHaveEdgesAsABuffer) {
  const NetworkSpec network = mlp({.num_features = 4,
                                   .num_outputs = 1,
                                   .hidden_sizes = {8},
                                   .numeric_embedding = config::NumericEmbedding::kPiecewiseLinear,
                                   .embedded_features = {0, 3},
                                   .num_bins = 5,
                                   .embedding_size = 6});
  EXPECT_EQ(
      names_and_shapes(tensors(network)),
      (Texts{"numeric_embeddings.slope [2, 6]", "numeric_embeddings.weight [2, 5, 6]",
             "numeric_embeddings.bias [2, 6]", "layers.0.weight [8, 16]", "layers.0.bias [8]",
             "layers.1.weight [1, 8]", "layers.1.bias [1]", "numeric_embeddings.edges [2, 6]"}));
  EXPECT_EQ(summary(network), "16-8-1 relu, piecewise-linear embeddings 2x6");
  EXPECT_EQ(layer_lines(network).front(),
            "numeric_embeddings: piecewise linear, 2 of size 6 with 5 bins");
}

TEST(NetworkSpecTest, MembersDifferInTheInputScaleAndTheOutputLayer) {
  MlpOptions options = rich_options();
  options.norm = config::Norm::kNone;
  options.hidden_sizes = {8};
  options.residual = false;
  options.num_members = 4;
  options.mean = Mean::kOfProbabilities;
  const NetworkSpec network = mlp(options);
  EXPECT_EQ(num_members(network), 4);
  EXPECT_EQ(names_and_shapes(tensors(network)),
            (Texts{"embeddings.0.weight [6, 3]", "embeddings.1.weight [5, 2]",
                   "input_scale.weight [4, 7]", "layers.0.weight [8, 7]", "layers.0.bias [8]",
                   "layers.1.weight [4, 3, 8]", "layers.1.bias [4, 3]", "member_mean.scale [1]"}));
  EXPECT_EQ(output_tensors(network), Texts{"member_mean.scale"});
  EXPECT_EQ(summary(network),
            "7-8-3 gelu, dropout 0.25, embeddings 6x3 and 5x2, input scale, 4 members");
  EXPECT_EQ(layer_lines(network),
            (Texts{"input_scale: 7 for each of 4 members", "layers.0: 7 -> 8, gelu, dropout 0.25",
                   "layers.1: 8 -> 3 for each of 4 members"}));
  options.mean = Mean::kOfNumbers;
  EXPECT_EQ(output_tensors(mlp(options)), (Texts{"layers.1.weight", "layers.1.bias"}));
}

TEST(NetworkSpecTest, ColumnsOfAFeatureShareItsNumberInTheInputScale) {
  MlpOptions options = rich_options();  // the last two of the features are embedded, as 3 and 2
  options.num_features = 5;
  options.feature_groups = {0, 0, 1, 2, 3};
  options.num_members = 2;
  const auto scale_of = [](const NetworkSpec& network) {
    const std::vector<TensorSpec> all = parameters(network);
    return std::find_if(
               all.begin(), all.end(),
               [](const TensorSpec& tensor) { return tensor.name == "input_scale.weight"; })
        ->init;
  };
  EXPECT_EQ(scale_of(mlp(options)).kind, Initializer::Kind::kSign);
  EXPECT_EQ(scale_of(mlp(options)).groups, (std::vector<int64_t>{0, 0, 1, 2, 2, 2, 3, 3}));
  options.numeric_embedding = config::NumericEmbedding::kPiecewiseLinear;
  options.embedded_features = {2};
  EXPECT_EQ(scale_of(mlp(options)).kind, Initializer::Kind::kNormal);
  EXPECT_EQ(scale_of(mlp(options)).groups, (std::vector<int64_t>{0, 0, 1, 2, 2, 2, 3, 3, 1, 1, 1}));
}

TEST(NetworkSpecTest, NtkDividesTheLearningRateOfWeightsOnly) {
  MlpOptions options = rich_options();
  options.parametrization = config::Parametrization::kNtk;
  for (const TensorSpec& tensor : parameters(mlp(options))) {
    const bool is_weight = tensor.name.starts_with("layers.") && tensor.name.ends_with("weight");
    const double root = is_weight ? std::sqrt(static_cast<double>(tensor.shape[1])) : 1;
    EXPECT_EQ(tensor.factors.learning_rate, 1 / root) << tensor.name;
    EXPECT_EQ(tensor.factors.weight_decay, root);
    EXPECT_EQ(tensor.factors.epsilon, root);
  }
}

TEST(NetworkSpecTest, PositionsAreWhereTheTensorsOfALayerBegin) {
  const NetworkSpec network = mlp(rich_options());
  const std::vector<TensorPosition> positions = tensor_positions(network);
  const std::vector<TensorSpec> all = parameters(network);
  const std::vector<TensorSpec> measured = buffers(network);
  ASSERT_EQ(positions.size(), network.layers.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::vector<TensorSpec> own = parameters(network.layers[i]);
    for (std::size_t j = 0; j < own.size(); ++j) {
      EXPECT_EQ(all[positions[i].parameter + j].name, own[j].name);
    }
    const std::vector<TensorSpec> own_buffers = buffers(network.layers[i]);
    for (std::size_t j = 0; j < own_buffers.size(); ++j) {
      EXPECT_EQ(measured[positions[i].buffer + j].name, own_buffers[j].name);
    }
  }
}

TEST(NetworkSpecTest, OnlyWeightsOfLinearLayersAreDecayed) {
  for (const TensorSpec& tensor : tensors(mlp(rich_options()))) {
    const bool is_linear_weight =
        tensor.name.starts_with("layers.") && tensor.name.ends_with("weight");
    EXPECT_EQ(tensor.decay, is_linear_weight ? Decay::kYes : Decay::kNo) << tensor.name;
  }
}

TEST(NetworkSpecTest, BuffersAreNoParameters) {
  const NetworkSpec network =
      mlp({.num_features = 3, .num_outputs = 2, .hidden_sizes = {4}, .norm = config::Norm::kBatch});
  EXPECT_EQ(num_parameters(network), 12 + 4 + 4 + 4 + 8 + 2);
}

TEST(NetworkSpecTest, ASummarySaysEachThingOnce) {
  EXPECT_EQ(summary(mlp(rich_options())),
            "7-8-8-3 batch norm, gelu, dropout 0.25, residual, embeddings 6x3 and 5x2");
  EXPECT_EQ(summary(mlp({.num_features = 2, .num_outputs = 1})), "2-1");
  EXPECT_EQ(widths(mlp(rich_options())), (std::vector<int64_t>{7, 8, 8, 3}));
}

TEST(NetworkSpecTest, EachLinearLayerHasALineWithWhatFollowsIt) {
  EXPECT_EQ(
      layer_lines(mlp(rich_options())),
      (Texts{"layers.0: 7 -> 8, batch norm, gelu, dropout 0.25",
             "layers.1: 8 -> 8, batch norm, gelu, dropout 0.25, residual", "layers.2: 8 -> 3"}));
}

TEST(MlpTest, EachLayerDropsByRandomNumbersOfItsOwn) {
  const NetworkSpec network = mlp(rich_options());
  std::vector<uint32_t> streams;
  for (const Layer& layer : network.layers) {
    if (const auto* dropout = std::get_if<Dropout>(&layer)) streams.push_back(dropout->stream);
  }
  EXPECT_EQ(streams, (std::vector<uint32_t>{0, 1}));
}

}  // namespace
}  // namespace trainer::network
