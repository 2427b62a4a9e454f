// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/out_of_memory.h"

#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/nn/schedule/loss_scale.h"

#include "support/counting_allocator.h"
#include "support/error_of.h"
#include "support/quiet_log.h"
#include "support/sanitizers.h"
#include "support/sessions.h"
#include "support/tensors.h"

namespace trainer::train {
namespace {

using config::OnOutOfMemory;
using test::CountingAllocator;
using test::identical;

// 48 rows of 5 features in one batch, 8 hidden values each: 1536 bytes a tensor, and the
// parameters have 300. An optimizer that needs no memory of its own.
config::Config wide_config() {
  config::Config config = test::small_config();
  config.data.validation_fraction = 0.1;
  config.data.test_fraction = 0.1;
  config.model.hidden_sizes = {8};
  config.training.batch_size = 48;
  config.training.step = config::StepKind::kAutograd;
  config.training.optimizer.name = config::OptimizerName::kSgd;
  config.training.optimizer.weight_decay = 0;
  config.training.optimizer.momentum = 0;
  return config;
}

class OutOfMemoryTest : public testing::Test {
  test::QuietLog quiet_;
};

TEST_F(OutOfMemoryTest, ABatchThatDoesNotFitIsTakenInHalvesWithTheSameResult) {
  const config::Config config = wide_config();
  const auto whole = test::make_small_session(config);
  const auto split = test::make_small_session(config);
  ASSERT_EQ(split->train.size(), 48);
  const StepStats expected = run_step(*whole);
  StepStats stats;
  {
    const CountingAllocator allocator(/*largest=*/500);
    stats = run_step(*split);
    EXPECT_EQ(allocator.num_refused(), 2);
  }
  EXPECT_EQ(micro_batch_size(*whole), 48);
  EXPECT_EQ(micro_batch_size(*split), 12);
  EXPECT_EQ(split->state.recoveries.out_of_memory, 2);
  EXPECT_EQ(stats.num_samples, 48);
  EXPECT_EQ(stats.num_correct, expected.num_correct);
  EXPECT_NEAR(stats.loss_sum, expected.loss_sum, 1e-6F * expected.loss_sum);
  EXPECT_TRUE(
      test::close(split->model.parameters().values, whole->model.parameters().values, 1e-6, 1e-6));
}

TEST_F(OutOfMemoryTest, TheNextStepsAndAResumedRunGoOnWithTheSmallerParts) {
  const config::Config config = wide_config();
  const auto session = test::make_small_session(config);
  {
    const CountingAllocator allocator(/*largest=*/1000);
    advance(*session, run_step(*session));
  }
  const CountingAllocator allocator(/*largest=*/1000);
  session->state.position = {1, 1, 0};
  run_step(*session);
  EXPECT_EQ(allocator.num_refused(), 0);
  EXPECT_EQ(session->state.recoveries.out_of_memory, 1);

  const auto resumed = test::make_small_session(config);
  restore(*resumed, snapshot(*session));
  EXPECT_EQ(micro_batch_size(*resumed), 24);
}

std::string refusal(const config::Config& config, std::size_t largest) {
  const auto session = test::make_small_session(config);
  const at::Tensor before = session->model.parameters().values.clone();
  const CountingAllocator allocator(largest);
  const Error error = test::error_of([&] { run_step(*session); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_TRUE(identical(session->model.parameters().values, before));
  const std::string text = error.what();
  return text.substr(0, text.find(" (DefaultCPUAllocator"));
}

TEST_F(OutOfMemoryTest, WhereNotEvenOneRowFitsTheRunEnds) {
  EXPECT_EQ(refusal(wide_config(), 16),
            "step 1 (epoch 1): out of memory on cpu with 1 row; use a smaller model or data file");
}

TEST_F(OutOfMemoryTest, ARunThatIsToStopIsNotSplit) {
  config::Config config = wide_config();
  config.training.on_out_of_memory = OnOutOfMemory::kStop;
  EXPECT_EQ(refusal(config, 1000),
            "step 1 (epoch 1): out of memory on cpu with 48 rows; set training.on_out_of_memory: "
            "split, or use a smaller batch or model");
}

TEST_F(OutOfMemoryTest, BatchesOfABatchNormAreNotSplit) {
  config::Config config = wide_config();
  config.model.norm = config::Norm::kBatch;
  EXPECT_EQ(refusal(config, 1000),
            "step 1 (epoch 1): out of memory on cpu with 48 rows; model.norm: batch needs the "
            "whole batch for its statistics, so the batch cannot be split; use a smaller "
            "training.batch_size, or model.norm: layer");
}

// Wherever in the pass it happens: some limits are met before the norm, some behind it.
TEST_F(OutOfMemoryTest, RunningStatisticsStayAsTheyWere) {
  config::Config config = wide_config();
  config.model.norm = config::Norm::kBatch;
  const auto session = test::make_small_session(config);
  next_window(*session);  // the order needs memory too
  const at::Tensor before = session->model.buffer_values().clone();
  for (std::size_t largest = 100; largest < 1536; largest += 100) {
    const CountingAllocator allocator(largest);
    EXPECT_THROW(run_step(*session), Error);
    EXPECT_TRUE(identical(session->model.buffer_values(), before));
  }
}

TEST_F(OutOfMemoryTest, AnUpdateNeedsNoMemory) {
  config::Config config = wide_config();
  config.training.batch_size = 2;
  for (const auto name : {config::OptimizerName::kAdam, config::OptimizerName::kAdamw,
                          config::OptimizerName::kRmsprop, config::OptimizerName::kSgd}) {
    config.training.optimizer.name = name;
    config.training.optimizer.nesterov = name == config::OptimizerName::kSgd;
    const auto session = test::make_small_session(config);
    const CountingAllocator allocator(/*largest=*/250);  // a temporary of all parameters has 300
    EXPECT_TRUE(run_step(*session).is_finite);
  }
}

TEST_F(OutOfMemoryTest, AnEvaluationTakesFewerRowsAtATime) {
  const auto session = test::make_small_session(wide_config());
  const Evaluation expected = session->step->evaluate(session->train);
  const CountingAllocator allocator(/*largest=*/700);
  const Evaluation evaluation = session->step->evaluate(session->train);
  EXPECT_GT(allocator.num_refused(), 0);
  EXPECT_EQ(evaluation.num_correct, expected.num_correct);
  EXPECT_EQ(evaluation.num_samples, 48);
  EXPECT_NEAR(evaluation.loss, expected.loss, 1e-6 * expected.loss);
}

TEST_F(OutOfMemoryTest, ARunThatMovesToTheCpuGoesOnWithTheSameBits) {
  config::Config config = test::small_config();
  config.training.ema_decay = 0.9;
  const auto moved = test::make_small_session(config);
  const auto stayed = test::make_small_session(config);
  for (int i = 0; i < 9; ++i) {
    test::make_step(*stayed);
    if (i == 4) move_to_cpu(*moved);
    test::make_step(*moved);
  }
  EXPECT_EQ(moved->state.recoveries.out_of_memory, 1);
  EXPECT_TRUE(moved->state.recoveries.has_fallen_back);
  EXPECT_EQ(moved->state.position.step, 9);
  EXPECT_TRUE(identical(moved->model.parameters().values, stayed->model.parameters().values));
  EXPECT_EQ(moved->step->evaluate(*moved->validation).loss,
            stayed->step->evaluate(*stayed->validation).loss);
}

TEST_F(OutOfMemoryTest, AnOverflowOfTheScaledGradientIsMadeAgain) {
  config::Config config = test::exact_config();
  config.training.step = config::StepKind::kAutograd;
  const auto plain = test::make_exact_session(config, test::equal_rows(4, 1024), {});
  const auto scaled = test::make_exact_session(config, test::equal_rows(4, 1024), {});
  scaled->state.scaler = schedule::LossScaleState{.scale = 0x1p+127, .good_steps = 3};
  use_threads(*scaled, 1);  // a step with the scaler
  const StepStats expected = run_step(*plain);
  const StepStats stats = run_step(*scaled);
  EXPECT_TRUE(stats.is_finite);
  // The gradients are 2048 and their bound is 2^128, exclusive.
  EXPECT_EQ(scaled->state.recoveries.overflowed_steps, 11);
  EXPECT_EQ(scaled->state.scaler->scale, 0x1p+116);
  EXPECT_EQ(scaled->state.scaler->good_steps, 0);
  // A power of two changes no bit.
  EXPECT_EQ(stats.grad_norm, expected.grad_norm);
  EXPECT_TRUE(identical(scaled->model.parameters().values, plain->model.parameters().values));
  const double scale = scaled->state.scaler->scale;
  advance(*scaled, stats);
  EXPECT_EQ(scaled->state.scaler->good_steps, 1);
  EXPECT_EQ(snapshot(*scaled).state.scaler.value().scale, scale);
}

TEST_F(OutOfMemoryTest, AGradientThatIsNotFiniteWithoutScaleIsNoOverflow) {
  const auto session = test::make_small_session(wide_config());
  session->state.scaler =
      schedule::LossScaleState{.scale = schedule::kMinLossScale, .good_steps = 0};
  use_threads(*session, 1);
  session->model.parameters().values.fill_(1e30);
  const StepStats stats = run_step(*session);
  EXPECT_FALSE(stats.is_finite);
  EXPECT_FALSE(stats.has_overflowed);
}

TEST_F(OutOfMemoryTest, ThousandsOfStepsNeedNoMoreMemoryThanSome) {
  if (test::kHasAddressSanitizer) GTEST_SKIP() << "AddressSanitizer keeps freed memory";
  for (const auto kind : {config::StepKind::kFused, config::StepKind::kAutograd}) {
    config::Config config = test::small_config();
    config.training.step = kind;
    config.training.epochs = 1000;
    const auto session = test::make_small_session(config);
    for (int i = 0; i < 500; ++i) test::make_step(*session);
    const int64_t before = process_memory().current;
    for (int i = 0; i < 3000; ++i) test::make_step(*session);
    EXPECT_LT(process_memory().current - before, 2 << 20);
  }
}

}  // namespace
}  // namespace trainer::train
