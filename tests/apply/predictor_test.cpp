// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/predictor.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/config/config.h"
#include "trainer/nn/spec/mlp.h"

#include "support/checkpoints.h"
#include "support/numbers.h"

namespace trainer::apply {
namespace {

using Numbers = std::vector<float>;

/// A model of `num_classes` classes with weights that are made up.
Model some_model(config::Norm norm, int64_t num_classes, uint64_t first_seed = 1) {
  Model model;
  Member member;
  member.network = network::mlp({.num_features = 9,
                                 .num_outputs = num_classes,
                                 .hidden_sizes = {40, 40},
                                 .activation = config::Activation::kGelu,
                                 .dropout = 0.5,
                                 .norm = norm,
                                 .residual = true});
  uint64_t seed = first_seed;
  for (const network::TensorSpec& spec : network::tensors(member.network)) {
    Numbers values = test::some_numbers(spec.num_elements(), seed++);
    if (spec.name.ends_with("var")) values.assign(values.size(), 0.5F);
    member.weights.push_back({spec.name, test::float_data(spec.shape, values)});
  }
  model.members.push_back(std::move(member));
  model.schema.scaling = {Numbers(9, 0.25F), Numbers(9, 2.0F)};
  return model;
}

Model tiny_model() {
  Model model;
  model.members = {
      {.network = network::mlp({.num_features = 2, .num_outputs = 2, .hidden_sizes = {2}}),
       .weights = {{"layers.0.weight", test::float_data({2, 2}, {1, -1, 2, 0.5F})},
                   {"layers.0.bias", test::float_data({2}, {0.5F, -1})},
                   {"layers.1.weight", test::float_data({2, 2}, {1, 2, -1, 3})},
                   {"layers.1.bias", test::float_data({2}, {0.25F, -0.5F})}}}};
  model.schema.scaling = {{1, 2}, {2, 0.5F}};
  return model;
}

TEST(Predictor, ComputesScaledFeaturesThroughTheLayers) {
  const Model model = tiny_model();
  Predictor predictor(model, 1);
  Numbers outputs;
  // Scaled: (2, 1) and (-2, 0). Hidden: (1.5, 3.5) and relu(-1.5, -5).
  predictor.predict({2, 2, Numbers{2, 4, 0, 2}}, outputs);
  EXPECT_EQ(outputs, (Numbers{1.5F + 7 + 0.25F, -1.5F + 10.5F - 0.5F, 0.25F, -0.5F}));
  predictor.predict({1, 2, std::vector<uint8_t>{2, 4}}, outputs);
  EXPECT_EQ(outputs, (Numbers{8.75F, 8.5F}));
}

TEST(Predictor, TheBitsDependNeitherOnThreadsNorOnTheRowsBeside) {
  for (const config::Norm norm :
       {config::Norm::kNone, config::Norm::kBatch, config::Norm::kLayer}) {
    const Model model = some_model(norm, 5);
    const int64_t num_rows = 1500;
    const Numbers features = test::some_numbers(num_rows * 9, 77);
    Numbers expected;
    Predictor(model, 1).predict({num_rows, 9, features}, expected);
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(num_rows * 5));
    for (const int64_t threads : {2, 3, 7}) {
      Predictor predictor(model, threads);
      Numbers outputs;
      predictor.predict({num_rows, 9, features}, outputs);
      EXPECT_EQ(outputs, expected) << threads;
      for (const int64_t row : {int64_t{0}, int64_t{700}, num_rows - 1}) {
        const Numbers one(features.begin() + row * 9, features.begin() + (row + 1) * 9);
        predictor.predict({1, 9, one}, outputs);
        EXPECT_EQ(outputs, Numbers(expected.begin() + row * 5, expected.begin() + (row + 1) * 5));
      }
    }
  }
}

TEST(Outputs, TheSoftmaxGivesTheProbabilities) {
  const Model model = some_model(config::Norm::kNone, 3);
  const Numbers p =
      probabilities(model, Numbers{0, std::log(2.0F), std::log(5.0F), 1000, 0, -1000});
  EXPECT_FLOAT_EQ(p[0], 0.125F);
  EXPECT_FLOAT_EQ(p[1], 0.25F);
  EXPECT_FLOAT_EQ(p[2], 0.625F);
  EXPECT_EQ(Numbers(p.begin() + 3, p.end()), (Numbers{1, 0, 0}));
}

TEST(Outputs, ASingleLogitIsThatOfTheSecondClass) {
  Model model = some_model(config::Norm::kNone, 1);
  model.loss = config::Loss::kBinaryCrossEntropy;
  const Numbers outputs = {std::log(3.0F), 0, -200, 200};
  const Numbers p = probabilities(model, outputs);
  EXPECT_FLOAT_EQ(p[0], 0.25F);
  EXPECT_FLOAT_EQ(p[1], 0.75F);
  EXPECT_EQ(Numbers(p.begin() + 2, p.end()), (Numbers{0.5F, 0.5F, 1, 0, 0, 1}));
}

TEST(Outputs, OfRegressionAreScaledBack) {
  Model model = some_model(config::Norm::kNone, 2);
  model.schema.target_scaling = {{10, -1}, {0.5F, 4}};
  EXPECT_EQ(predicted_values(model, Numbers{1, 2, -3, 0}), (std::vector<double>{12, -0.5, 4, -1}));
}

Numbers outputs_of(const Model& model, const data::Matrix& features, int64_t num_threads = 1) {
  Numbers outputs;
  Predictor(model, num_threads).predict(features, outputs);
  return outputs;
}

/// A member for each seed, and the models of each alone.
Model some_ensemble(int64_t num_outputs, std::vector<Model>& members) {
  for (const uint64_t seed : {uint64_t{1}, uint64_t{100}, uint64_t{200}}) {
    members.push_back(some_model(config::Norm::kLayer, num_outputs, seed));
  }
  Model ensemble = members.front();
  for (std::size_t i = 1; i < members.size(); ++i) {
    ensemble.members.push_back(members[i].members.front());
  }
  return ensemble;
}

TEST(Predictor, AnEnsembleHasTheMeanProbabilities) {
  const data::Matrix features{1030, 9, test::some_numbers(int64_t{1030} * 9, 5)};
  for (const int64_t num_outputs : {1, 3}) {
    std::vector<Model> members;
    Model ensemble = some_ensemble(num_outputs, members);
    for (Model* model : {&members[0], &members[1], &members[2], &ensemble}) {
      model->loss =
          num_outputs == 1 ? config::Loss::kBinaryCrossEntropy : config::Loss::kCrossEntropy;
    }
    const Numbers outputs = outputs_of(ensemble, features);
    EXPECT_EQ(outputs, outputs_of(ensemble, features, 3));
    const Numbers mean = probabilities(ensemble, outputs);
    Numbers sum(mean.size());
    for (const Model& member : members) {
      const Numbers single = probabilities(member, outputs_of(member, features));
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += single[i];
    }
    for (std::size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(mean[i], sum[i] / 3, 1e-6);
  }
}

// The configuration of a member that validates on this part of the rows.
std::shared_ptr<const config::Config> with_fold(int64_t fold) {
  config::Config config;
  config.data.validation_folds = 3;
  config.data.validation_fold = fold + 1;
  return std::make_shared<config::Config>(config);
}

TEST(Predictor, ARowCanBePredictedByTheMembersOfItsFoldAlone) {
  constexpr int64_t kRows = 1030;  // more than a batch
  const data::Matrix features{kRows, 9, test::some_numbers(kRows * 9, 5)};
  std::vector<Model> members;
  Model ensemble = some_ensemble(3, members);
  for (std::size_t i = 0; i < 3; ++i) {
    ensemble.members[i].config = with_fold(static_cast<int64_t>(i));
  }
  std::vector<int32_t> fold_of_row(kRows);
  for (std::size_t row = 0; row < fold_of_row.size(); ++row) {
    fold_of_row[row] = static_cast<int32_t>(row * row % 3);
  }
  Numbers outputs;
  Predictor(ensemble, 2).predict(features, outputs, fold_of_row);
  std::vector<Numbers> alone;
  for (const Model& member : members) alone.push_back(outputs_of(member, features));
  ASSERT_EQ(outputs.size(), alone.front().size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i], alone[static_cast<std::size_t>(fold_of_row[i / 3])][i]) << i;
  }
}

// Two configurations with two folds each: a row has the weighted mean of the two members that have
// not seen its fold.
TEST(Predictor, MembersOfAFoldAreAveragedByTheirWeights) {
  const data::Matrix features{6, 9, test::some_numbers(int64_t{6} * 9, 5)};
  std::vector<Model> members;
  Model ensemble = some_ensemble(3, members);
  ensemble.members.push_back(ensemble.members.front());
  ensemble.weights = {0.3, 0.2, 0.1, 0.4};
  for (std::size_t i = 0; i < 4; ++i) {
    ensemble.members[i].config = with_fold(static_cast<int64_t>(i % 2));
  }
  const std::vector<int32_t> fold_of_row = {0, 1, 0, 0, 1, 1};
  Numbers outputs;
  Predictor(ensemble, 1).predict(features, outputs, fold_of_row);
  const Numbers mean = probabilities(ensemble, outputs);
  std::vector<Numbers> alone;
  for (const Model& member : members) {
    alone.push_back(probabilities(member, outputs_of(member, features)));
  }
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const bool is_first = fold_of_row[i / 3] == 0;  // members 0 and 2, or 1 and 0 again
    const double expected = is_first ? (0.3 * alone[0][i] + 0.1 * alone[2][i]) / 0.4
                                     : (0.2 * alone[1][i] + 0.4 * alone[0][i]) / 0.6;
    EXPECT_NEAR(mean[i], expected, 1e-6) << i;
  }
}

TEST(Predictor, AnEnsembleOfRegressionsHasTheMeanNumbers) {
  const data::Matrix features{5, 9, test::some_numbers(int64_t{5} * 9, 5)};
  std::vector<Model> members;
  Model ensemble = some_ensemble(2, members);
  ensemble.schema.task = config::Task::kRegression;
  const Numbers outputs = outputs_of(ensemble, features);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    double sum = 0;
    for (const Model& member : members) sum += outputs_of(member, features)[i];
    EXPECT_NEAR(outputs[i], sum / 3, 1e-6);
  }
}

TEST(Predictor, AnEnsembleIsTheMeanOfLimitedPredictions) {
  const data::Matrix features{200, 9, test::some_numbers(int64_t{200} * 9, 5)};
  std::vector<Model> members;
  Model ensemble = some_ensemble(2, members);
  for (Model* model : {&members[0], &members[1], &members[2], &ensemble}) {
    model->schema.task = config::Task::kRegression;
    model->schema.target_scaling = {{10, -1}, {0.5F, 4}};
    model->schema.target_low = {-0.5F, -0.25F};
    model->schema.target_high = {0.5F, 0.25F};
  }
  const std::vector<double> values = predicted_values(ensemble, outputs_of(ensemble, features));
  std::vector<double> sums(values.size());
  for (const Model& member : members) {
    const std::vector<double> of_member = predicted_values(member, outputs_of(member, features));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += of_member[i];
  }
  int64_t num_within = 0;  // where some members are limited and others are not
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], sums[i] / 3, 1e-5) << i;
    const double output = i % 2 == 0 ? (values[i] - 10) / 2 : (values[i] + 1) * 4;
    num_within += std::abs(output) < (i % 2 == 0 ? 0.49 : 0.24) ? 1 : 0;
  }
  EXPECT_GT(num_within, 20);
}

// Of members that are nearly sure, the logarithms are finite and right.
TEST(Predictor, SmallProbabilitiesOfAnEnsembleAreNotLost) {
  Model model;
  for (const float slope : {-500.0F, -300.0F}) {
    model.members.push_back(
        {.network = network::mlp({.num_features = 1, .num_outputs = 2, .hidden_sizes = {}}),
         .weights = {{"layers.0.weight", test::float_data({2, 1}, {0, slope})},
                     {"layers.0.bias", test::float_data({2}, {0, 0})}}});
  }
  model.schema.scaling = {{0}, {1}};
  const Numbers outputs = outputs_of(model, {1, 1, Numbers{1}});
  EXPECT_FLOAT_EQ(outputs[0], 0);
  EXPECT_FLOAT_EQ(outputs[1], -300 - std::log(2.0F));
}

}  // namespace
}  // namespace trainer::apply
