// SPDX-License-Identifier: Apache-2.0
#include "train/steps_ahead.h"

#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "support/sessions.h"
#include "support/trained.h"

namespace trainer::train {
namespace {

/// 48 rows, of which 36 are for training: 5 steps an epoch, the last one smaller.
config::Config autograd_config() {
  config::Config config = test::small_config();
  config.data.synthetic.num_samples = 48;
  config.training.epochs = 6;
  config.training.step = config::StepKind::kAutograd;
  return config;
}

void expect_the_same_from_any_length(const config::Config& config,
                                     void (*change)(Session&) = nullptr) {
  const auto train = [&](int64_t max_length) {
    auto session = test::make_small_session(config);
    if (change != nullptr) change(*session);
    test::train_ahead(*session, max_length);
    return session;
  };
  const auto expected = train(1);
  for (const int64_t max_length : {2, 1024}) test::expect_same(*train(max_length), *expected);
}

TEST(StepsAheadTest, SeveralStepsTogetherGiveTheBitsOfOneAfterTheOther) {
  config::Config config = autograd_config();
  config.model.norm = config::Norm::kBatch;
  config.model.dropout = {0.2};
  config.training.ema_decay = 0.9;
  expect_the_same_from_any_length(config);
}

TEST(StepsAheadTest, EveryOptimizerGoesAhead) {
  for (const auto name : {config::OptimizerName::kSgd, config::OptimizerName::kAdam,
                          config::OptimizerName::kRmsprop}) {
    config::Config config = autograd_config();
    config.training.optimizer.name = name;
    config.training.gradient_accumulation_steps = 2;
    expect_the_same_from_any_length(config);
  }
}

TEST(StepsAheadTest, AStepThatIsNotFiniteIsSkippedAsIfItWereAlone) {
  config::Config config = autograd_config();
  config.model.norm = config::Norm::kBatch;
  expect_the_same_from_any_length(config, [](Session& session) {
    session.train.features.select(0, 7).fill_(std::numeric_limits<float>::infinity());
  });
}

TEST(StepsAheadTest, AllStepsButTheLastAreFinite) {
  config::Config config = autograd_config();
  const auto session = test::make_small_session(config);
  session->train.features.select(0, 7).fill_(std::numeric_limits<float>::infinity());
  StepsAhead ahead(1024);
  int64_t num_bad = 0;
  for (int64_t done = 0; done < 5;) {
    const std::vector<StepStats>& results = ahead.run(*session, 5 - done);
    done += std::ssize(results);
    for (std::size_t i = 0; i + 1 < results.size(); ++i) EXPECT_TRUE(results[i].is_finite);
    num_bad += results.back().is_finite ? 0 : 1;
    for (const StepStats& stats : results) advance(*session, stats);
  }
  EXPECT_EQ(num_bad, 1);
  EXPECT_EQ(session->state.recoveries.skipped_steps, 1);
  EXPECT_EQ(session->optimizer_state.step, 4);
}

TEST(StepsAheadTest, AnOverflowHalvesTheLossScaleAsIfTheStepWereAlone) {
  config::Config config = autograd_config();
  config.training.epochs = 12;
  expect_the_same_from_any_length(config, [](Session& session) {
    session.state.scaler = schedule::LossScaleState{.scale = 0x1p+127, .good_steps = 3};
    use_threads(session, 1);  // a step with the scaler
  });
}

}  // namespace
}  // namespace trainer::train
