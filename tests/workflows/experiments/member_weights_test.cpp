// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/member_weights.h"

#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/philox.h"

namespace trainer::experiments {
namespace {

using Numbers = std::vector<float>;

/// Numbers of five folds, and predictions that differ from them by noise of these deviations, of
/// which `shared` is the same for all candidates.
CandidatePool pool_of(std::size_t num_rows, const std::vector<double>& noises, double shared = 0) {
  CandidatePool pool;
  PhiloxStream random(/*seed=*/1, StreamId::kSynthetic);
  std::vector<double> common;
  for (std::size_t row = 0; row < num_rows; ++row) {
    pool.values.push_back(random.normal());
    pool.folds.push_back(static_cast<int32_t>(row % 5));
    common.push_back(shared * random.normal());
  }
  for (const double noise : noises) {
    Numbers& predictions = pool.predictions.emplace_back();
    for (std::size_t row = 0; row < num_rows; ++row) {
      predictions.push_back(
          static_cast<float>(pool.values[row] + common[row] + noise * random.normal()));
    }
  }
  return pool;
}

TEST(MemberWeightsTest, TheOnlyCandidateHasAllWeight) {
  const CandidatePool pool = pool_of(50, {0.3});
  const ChosenWeights chosen = choose_weights(pool);
  EXPECT_EQ(chosen.weights, std::vector<double>{1});
  EXPECT_NEAR(chosen.loss, 0.3, 0.1);
  EXPECT_DOUBLE_EQ(chosen.loss, pool_loss(pool, chosen.weights));
  EXPECT_NEAR(chosen.expected_loss, chosen.loss, 1e-12);
}

// The mean of four with independent errors has half of their error; a bad one is left out.
TEST(MemberWeightsTest, GoodCandidatesShareTheWeightAndABadOneHasNone) {
  const ChosenWeights chosen = choose_weights(pool_of(2000, {0.5, 0.5, 0.5, 0.5, 5}));
  EXPECT_NEAR(chosen.loss, 0.25, 0.03);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(chosen.weights[i], 0.25, 0.08) << i;
  EXPECT_EQ(chosen.weights[4], 0);
  EXPECT_NEAR(std::accumulate(chosen.weights.begin(), chosen.weights.end(), 0.0), 1, 1e-12);
}

TEST(MemberWeightsTest, AFewOfManyCandidatesAreTheBestOnes) {
  const CandidatePool pool = pool_of(2000, {0.9, 0.5, 0.9, 0.5, 0.9});
  const ChosenWeights chosen = choose_few_weights(pool, 2);
  EXPECT_NEAR(chosen.weights[1], 0.5, 0.08);
  EXPECT_NEAR(chosen.weights[1] + chosen.weights[3], 1, 1e-12);
  EXPECT_DOUBLE_EQ(chosen.loss, pool_loss(pool, chosen.weights));
  EXPECT_EQ(choose_few_weights(pool, 5).weights, choose_weights(pool).weights);
}

TEST(MemberWeightsTest, ManyEqualCandidatesKeepTheirWeights) {
  CandidatePool pool = pool_of(60, std::vector<double>(120, 1.0));
  const ChosenWeights chosen = choose_weights(pool);
  EXPECT_NEAR(std::accumulate(chosen.weights.begin(), chosen.weights.end(), 0.0), 1, 1e-12);
  EXPECT_LT(chosen.expected_loss, 0.25);  // half of them, each with less than 2 %
}

// Of many candidates that are equally bad, those that fit few rows by chance do not fit others.
TEST(MemberWeightsTest, TheExpectedLossIsNotThatOfTheRowsThatChose) {
  const std::vector<double> noises(40, 1.0);
  const ChosenWeights chosen = choose_weights(pool_of(30, noises, /*shared=*/1));
  EXPECT_GT(chosen.expected_loss, chosen.loss);
}

TEST(MemberWeightsTest, ClassesAreWeighedByTheLogLoss) {
  CandidatePool pool;
  pool.has_classes = true;
  pool.folds = {0, 1, 0, 1};
  pool.predictions = {{0.9F, 0.8F, 0.9F, 0.8F}, {0.1F, 0.2F, 0.1F, 0.2F}};
  const ChosenWeights chosen = choose_weights(pool);
  EXPECT_EQ(chosen.weights, (std::vector<double>{1, 0}));
  EXPECT_NEAR(chosen.loss, -(std::log(0.9) + std::log(0.8)) / 2, 1e-6);
  EXPECT_NEAR(pool_loss(pool, std::vector<double>{0.5, 0.5}), -std::log(0.5), 1e-6);
}

TEST(MemberWeightsTest, APredictionThatIsNotANumberIsNoCandidate) {
  CandidatePool pool = pool_of(40, {0.5, 0.1});
  pool.predictions[1][7] = NAN;
  EXPECT_EQ(choose_weights(pool).weights, (std::vector<double>{1, 0}));
}

}  // namespace
}  // namespace trainer::experiments
