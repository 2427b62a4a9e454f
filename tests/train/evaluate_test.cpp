// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "support/sessions.h"
#include "support/tensors.h"

namespace trainer::train {
namespace {

config::Config config_with_1500_samples() {
  config::Config config = test::small_config();
  config.data.synthetic.num_samples = 1500;
  config.data.validation_fraction = 0;
  config.data.test_fraction = 0;
  config.model.dropout = 0.5;
  config.model.norm = config::Norm::kBatch;
  return config;
}

// Cross-entropy and hits in double, a sample at a time.
Evaluation by_hand(const at::Tensor& logits, const at::Tensor& targets) {
  Evaluation result;
  const std::vector<float> all = test::elements(logits);
  const auto width = static_cast<std::size_t>(logits.size(1));
  for (int64_t i = 0; i < logits.size(0); ++i) {
    const float* row = all.data() + static_cast<std::size_t>(i) * width;
    const auto target = targets[i].item<int64_t>();
    double sum = 0;
    for (std::size_t k = 0; k < width; ++k) sum += std::exp(static_cast<double>(row[k]));
    result.loss += std::log(sum) - row[target];
    result.num_correct += std::max_element(row, row + width) - row == target;
  }
  result.loss /= static_cast<double>(logits.size(0));
  return result;
}

TEST(EvaluateTest, IsTheMeanOverAllSamplesInInferenceMode) {
  const auto session = test::make_small_session(config_with_1500_samples());
  const Evaluation result = evaluate(session->model, session->train, session->loss);

  // In one batch where evaluate() takes two.
  const Batch all = slice(session->train, 0, session->train.size());
  const Evaluation expected =
      by_hand(session->model.forward(all.features, model::Mode::kInference), all.targets.values);
  EXPECT_NEAR(result.loss, expected.loss, 1e-6);
  EXPECT_EQ(result.num_correct, expected.num_correct);
  EXPECT_EQ(result.num_samples, 1500);
  EXPECT_EQ(result.accuracy(), static_cast<double>(expected.num_correct) / 1500);
}

TEST(EvaluateTest, LeavesTheModelUnchanged) {
  const auto session = test::make_small_session(config_with_1500_samples());
  test::make_step(*session);  // running statistics and gradients that are not the first ones
  std::vector<at::Tensor> before;
  for (const auto& named : session->model.state()) before.push_back(named.tensor.clone());
  const at::Tensor gradients = session->model.parameters().gradients.clone();

  const Evaluation first = evaluate(session->model, session->train, session->loss);
  const Evaluation second = evaluate(session->model, session->train, session->loss);

  EXPECT_EQ(first.loss, second.loss);
  const auto after = session->model.state();
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_TRUE(test::identical(after[i].tensor, before[i])) << after[i].name;
  }
  EXPECT_TRUE(test::identical(session->model.parameters().gradients, gradients));
  test::make_step(*session);  // autograd still works after inference mode
}

TEST(EvaluateTest, RegressionIsTheMeanSquaredErrorWithoutHits) {
  const auto session = test::make_exact_session(test::exact_config(), test::equal_rows(4, 3), {});
  const Evaluation result = evaluate(session->model, session->train, session->loss);
  EXPECT_EQ(result.loss, 9.0);
  EXPECT_EQ(result.num_correct, 0);
  EXPECT_EQ(result.num_samples, 4);
}

}  // namespace
}  // namespace trainer::train
