// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/session.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/table/split/order.h"

#include "support/error_of.h"
#include "support/sessions.h"
#include "support/tensors.h"

namespace trainer::train {
namespace {

using test::equal_rows;
using test::exact_config;
using test::make_exact_session;
using test::make_small_session;
using test::small_config;

TEST(SessionTest, IsBuiltAsConfigured) {
  config::Config config = small_config();
  config.model.norm = config::Norm::kLayer;
  config.training.label_smoothing = 0.1;
  const auto session = make_small_session(config);
  EXPECT_EQ(network::summary(session->model.spec()), "5-8-8-3 layer norm, relu");
  EXPECT_EQ(session->loss.kind, config::Loss::kCrossEntropy);
  EXPECT_EQ(session->loss.label_smoothing, 0.1);
  EXPECT_EQ(session->optimizer_state.moments.size(), 2U);
  EXPECT_EQ(session->train.size(), 48);
  EXPECT_EQ(session->validation.value().size(), 6);
  EXPECT_EQ(session->test.value().size(), 6);
}

TEST(SessionTest, PartsWithoutRowsAreAbsent) {
  const auto session = make_exact_session(exact_config(), equal_rows(4, 1), {});
  EXPECT_FALSE(session->validation.has_value());
  EXPECT_FALSE(session->test.has_value());
  EXPECT_EQ(session->loss.kind, config::Loss::kMse);
  EXPECT_TRUE(session->optimizer_state.moments.empty());  // sgd without momentum
}

TEST(SessionTest, TheScheduleCountsOptimizerSteps) {
  config::Config config = small_config();
  config.training.gradient_accumulation_steps = 4;
  config.training.schedule.warmup_epochs = 1.5;
  config.training.schedule.final_factor = 0.1;
  const auto session = make_small_session(config);
  EXPECT_EQ(schedule::samples_per_step(config.training, 1000), 32);
  // 32 and 16 of 48 samples
  EXPECT_EQ(schedule::steps_per_epoch(config.training, session->train.size()), 2);
  EXPECT_EQ(session->schedule.total_steps, 8);
  EXPECT_EQ(session->schedule.warmup_steps, 3);
  EXPECT_EQ(session->schedule.peak, 0.01);
  EXPECT_EQ(session->schedule.final_factor, 0.1);
  EXPECT_DOUBLE_EQ(next_learning_rate(*session), 0.01 / 3);
}

TEST(SessionTest, WindowsOfAnEpochAreItsOrderInPieces) {
  config::Config config = small_config();
  config.training.batch_size = 10;
  config.training.gradient_accumulation_steps = 2;
  const auto session = make_small_session(config);
  for (const int64_t epoch : {0, 1}) {
    std::vector<float> rows;
    std::vector<int64_t> sizes;
    while (session->state.position.epoch == epoch) {
      const Window window = next_window(*session);
      EXPECT_EQ(window.batch_size, 10);
      sizes.push_back(window.num_samples);
      for (const float row : test::elements(window.rows(0, window.num_samples)))
        rows.push_back(row);
      test::make_step(*session);
    }
    const std::vector<int64_t> order =
        data::order_part({.num_rows = 48, .window = 48, .seed = 42}, epoch, 0).rows;
    EXPECT_EQ(sizes, (std::vector<int64_t>{20, 20, 8}));
    EXPECT_EQ(rows, std::vector<float>(order.begin(), order.end()));
  }
}

TEST(SessionTest, StepsGoThroughAllPartsOfAnEpoch) {
  config::Config config = small_config();
  config.training.batch_size = 7;  // ends within parts, and takes more than one of them
  config.data.shuffle_window = 5;
  const auto session = make_small_session(config);
  const data::OrderOptions options{.num_rows = 48, .window = 5, .block = 1, .seed = 42};
  for (const int64_t epoch : {0, 1}) {
    std::vector<float> rows;
    while (session->state.position.epoch == epoch) {
      const Window window = next_window(*session);
      for (const float row : test::elements(window.rows(0, window.num_samples)))
        rows.push_back(row);
      test::make_step(*session);
    }
    std::vector<float> expected;
    for (int64_t position = 0; position < 48; position += 5) {
      const data::OrderPart part = data::order_part(options, epoch, position);
      expected.insert(expected.end(), part.rows.begin(), part.rows.end());
    }
    EXPECT_EQ(rows, expected);
  }
  session->state.position = {};  // as after a rollback
  const Window first = next_window(*session);
  const data::OrderPart part = data::order_part(options, 0, 0);
  EXPECT_EQ(test::elements(first.rows(0, 5)),
            std::vector<float>(part.rows.begin(), part.rows.end()));
}

TEST(SessionTest, ANewSearchForTheBestEpochForgetsTheOldOne) {
  const auto session = make_small_session(small_config());
  session->state.best = checkpoint::Best{3, 0.5};
  session->state.epochs_without_improvement = 2;
  reset_best(*session);
  EXPECT_FALSE(session->state.best.has_value());
  EXPECT_EQ(session->state.epochs_without_improvement, 0);
}

std::string refusal(const std::function<void(config::Config&)>& change, bool regression) {
  config::Config config = regression ? exact_config() : small_config();
  change(config);
  const Error error = test::error_of([&] {
    if (regression) {
      make_exact_session(config, equal_rows(4, 1), {});
    } else {
      make_small_session(config);
    }
  });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  return error.what();
}

TEST(SessionTest, CrossEntropyOfANumberIsRefused) {
  EXPECT_EQ(refusal([](auto& c) { c.training.loss = config::Loss::kCrossEntropy; }, true),
            "training.loss: cross_entropy requires classes; set data.task: classification (the "
            "target \"y\" was inferred as regression)");
}

TEST(SessionTest, SquaredErrorOfClassesIsRefused) {
  EXPECT_EQ(refusal([](auto& c) { c.training.loss = config::Loss::kMse; }, false),
            "training.loss: mse requires a numeric target; set data.task: regression (the target "
            "\"class\" was inferred as classification)");
}

TEST(SessionTest, AccuracyOfARegressionIsRefused) {
  EXPECT_EQ(refusal([](auto& c) { c.training.best_metric = config::BestMetric::kAccuracy; }, true),
            "training.best_metric: accuracy is not defined for regression; use loss (the target "
            "\"y\" was inferred as regression)");
}

TEST(SessionTest, AMetricThatTheDataDoNotHaveIsRefused) {
  const auto by = [](config::BestMetric metric) {
    return [metric](config::Config& c) { c.training.best_metric = metric; };
  };
  EXPECT_EQ(refusal(by(config::BestMetric::kBinaryF1), false),
            "training.best_metric: binary_f1 requires two classes, got 3; use f1 (the target "
            "\"class\" was inferred as classification)");
  EXPECT_EQ(refusal(by(config::BestMetric::kPrAuc), true),
            "training.best_metric: pr_auc is not defined for regression; use loss (the target "
            "\"y\" was inferred as regression)");
  EXPECT_EQ(refusal(by(config::BestMetric::kMape), false),
            "training.best_metric: mape is not defined for classification; use loss (the target "
            "\"class\" was inferred as classification)");
  config::Config config = exact_config();
  config.training.best_metric = config::BestMetric::kR2;
  const Error error =
      test::error_of([&] { make_exact_session(config, equal_rows(4, 1), equal_rows(1, 1)); });
  EXPECT_STREQ(error.what(),
               "training.best_metric: r2 requires two rows in the validation split, got one; set a "
               "larger data.validation_fraction, or use loss");
  EXPECT_STREQ(
      test::error_of([&] {
        make_exact_session(config, equal_rows(4, 1), equal_rows(3, 1));
      }).what(),
      "training.best_metric: r2 requires different targets in the validation split, but all of its "
      "rows have the same; set a larger data.validation_fraction, or use loss");
}

TEST(SessionTest, LabelSmoothingOfARegressionIsRefused) {
  EXPECT_EQ(refusal([](auto& c) { c.training.label_smoothing = 0.1; }, true),
            "training.label_smoothing: only applies to cross-entropy; remove it for regression "
            "(the target \"y\" was inferred as regression)");
}

TEST(SessionTest, ABatchOfOneRowIsRefusedForBatchNorm) {
  const auto with_batch_size = [](int64_t batch_size) {
    return [batch_size](config::Config& c) {
      c.model.norm = config::Norm::kBatch;
      c.training.batch_size = batch_size;
    };
  };
  EXPECT_EQ(refusal(with_batch_size(47), false),
            "training.batch_size: 48 training rows in batches of 47 leave a last batch of one row, "
            "and model.norm: batch requires two; choose another batch size");
  EXPECT_EQ(refusal(with_batch_size(1), false),
            "training.batch_size: 48 training rows in batches of 1 leave a last batch of one row, "
            "and model.norm: batch requires two; choose another batch size");
  config::Config config = small_config();
  with_batch_size(48)(config);
  EXPECT_NO_THROW(make_small_session(config));
}

TEST(SessionTest, APatternThatFitsNoNameIsRefused) {
  config::Config config = small_config();
  config.model.hidden_sizes = {8};
  config.training.freeze = {"layers.0.*", "layer.1.*"};
  const Error error = test::error_of([&] { make_small_session(config); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(),
               "training.freeze: no parameter matches \"layer.1.*\"; available: layers.0.weight, "
               "layers.0.bias, layers.1.weight and layers.1.bias");
  config.training.freeze = {};
  config.training.lr_factors = {"*.bias=0.1", "scale=6"};
  EXPECT_STREQ(test::error_of([&] { make_small_session(config); }).what(),
               "training.lr_factors: no parameter matches \"scale\"; available: layers.0.weight, "
               "layers.0.bias, layers.1.weight and layers.1.bias");
  config.training.lr_factors = {};
  config.model.init_from = "weights.pt";
  config.model.init_skip = {"head"};
  EXPECT_STREQ(test::error_of([&] { make_small_session(config); }).what(),
               "model.init_skip: no parameter matches \"head\"; available: layers.0.weight, "
               "layers.0.bias, layers.1.weight and layers.1.bias");
}

TEST(SessionTest, AModelThatIsFrozenWholeIsRefused) {
  config::Config config = small_config();
  config.training.freeze = {"*"};
  const Error error = test::error_of([&] { make_small_session(config); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_STREQ(error.what(),
               "training.freeze: every parameter is frozen; leave at least one trainable");
}

}  // namespace
}  // namespace trainer::train
