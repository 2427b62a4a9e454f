// SPDX-License-Identifier: Apache-2.0
// What training asks of a device.
#include <memory>

#include <gtest/gtest.h>
#include <torch/version.h>

#include "trainer/train/out_of_memory.h"
#include "trainer/train/session.h"

#include "simulated_device/memory.h"
#include "simulated_device/state.h"
#include "support/sessions.h"
#include "support/trained.h"

namespace trainer::test::simulated {
namespace {

using train::Session;

/// Each test begins with a healthy device.
class StepOnDeviceTest : public testing::Test {
 protected:
  void SetUp() override { state().behaviour = {}; }
  void TearDown() override { state().behaviour = {}; }

  static Behaviour& behaviour() { return state().behaviour; }
};

/// As small_config(), with a network like `mid` of docs/peers.md: two hidden layers, relu.
config::Config mid_config() {
  config::Config config = small_config();
  config.data.synthetic = {.num_samples = 320, .num_features = 16, .num_classes = 10};
  config.data.validation_fraction = 0;
  config.data.test_fraction = 0;
  config.model.hidden_sizes = {32, 32};
  config.training.batch_size = 32;
  config.training.epochs = 3;
  return config;
}

std::unique_ptr<Session> make_session_on(c10::Device device, const config::Config& config) {
  const auto seed = static_cast<uint64_t>(config.seed);
  auto session = train::make_session(config, data::load_datasets(config.data, seed), device);
  train::use_threads(*session, 1);
  return session;
}

// The counters of `num_steps` steps that are started together.
Counters count_steps(const config::Config& config, int64_t num_steps) {
  const auto session = make_session_on(the_device(), config);
  start_steps(*session, 2);
  reset_counters();
  start_steps(*session, num_steps);
  return counters();
}

// docs/performance.md compares the number with eager PyTorch's.
TEST_F(StepOnDeviceTest, AStepTakesFewOperatorsNoNewMemoryAndWaitsForNothing) {
  const Counters c = count_steps(mid_config(), 8);
  EXPECT_EQ(c.operators, 8 * 38);
  EXPECT_EQ(c.new_blocks, 0);
  EXPECT_EQ(c.waits, 0);
  EXPECT_EQ(c.to_device, 0);
  EXPECT_EQ(c.to_host, 0);
}

TEST_F(StepOnDeviceTest, AlsoWithEmbeddingsOfNumbersAndMembers) {
  for (const auto kind :
       {config::NumericEmbedding::kPeriodic, config::NumericEmbedding::kPiecewiseLinear}) {
    config::Config config = mid_config();
    config.model.numeric_embedding = kind;
    config.model.ensemble_size = 4;
    const Counters c = count_steps(config, 8);
    EXPECT_EQ(c.new_blocks, 0);
    EXPECT_EQ(c.waits, 0);
    EXPECT_EQ(c.to_device, 0);
    EXPECT_EQ(c.to_host, 0);
  }
}

TEST_F(StepOnDeviceTest, ResultsOfManyStepsAreReadInOneCopy) {
  const config::Config config = mid_config();
  const auto session = make_session_on(the_device(), config);
  start_steps(*session, 8);
  reset_counters();
  EXPECT_EQ(session->step->finish().size(), 8U);
  EXPECT_EQ(counters().to_host, 1);
  EXPECT_EQ(counters().waits, 1);
}

TEST_F(StepOnDeviceTest, ARunWaitsOnlyWhereItRecordsOrEvaluates) {
  config::Config config = mid_config();
  config.logging.save_interval = 5;
  config.training.epochs = 40;  // 10 steps each
  const auto session = make_session_on(the_device(), config);
  train_ahead(*session, 1024);
  session->config.training.epochs = 80;
  reset_counters();
  train_ahead(*session, 1024);
  // Each call begins with one step, then two, and so on, up to an epoch.
  EXPECT_LE(counters().waits, 40 + 4);
}

TEST_F(StepOnDeviceTest, WhatItTrainsHasTheBitsOfTheCpu) {
  config::Config config = mid_config();
  config.training.step = config::StepKind::kAutograd;
  config.model.dropout = 0.2;
  config.model.norm = config::Norm::kBatch;
  const auto on_cpu = make_session_on(c10::kCPU, config);
  const auto on_device = make_session_on(the_device(), config);
  train_ahead(*on_cpu, 1);
  train_ahead(*on_device, 1024);
  expect_same(*on_device, *on_cpu);
}

// In whichever operator, also in one of the update.
TEST_F(StepOnDeviceTest, AStepThatWasNotFiniteOnceIsRunAgain) {
  const config::Config config = mid_config();
  const QuietLog quiet;
  for (int64_t n = 200; n < 600; n += 7) {
    const auto session = make_session_on(the_device(), config);
    behaviour().nan_in = n;
    train_ahead(*session, 1024);
    EXPECT_EQ(session->state.recoveries.skipped_steps, 0);
    EXPECT_TRUE(session->model.parameters().values.isfinite().all().item<bool>());
  }
}

#if TORCH_VERSION_MAJOR >= 2  // before, the CPU's kernels have no fp16

TEST_F(StepOnDeviceTest, StepsInFp16OverflowAndAreRetriedAsOnTheCpu) {
  config::Config config = mid_config();
  config.training.step = config::StepKind::kAutograd;
  config.precision = config::Precision::kFp16;
  const auto on_cpu = make_session_on(c10::kCPU, config);
  const auto on_device = make_session_on(the_device(), config);
  for (const auto& session : {on_cpu.get(), on_device.get()}) {
    session->state.scaler->scale = 0x1p24;
  }
  train_ahead(*on_cpu, 1);
  train_ahead(*on_device, 1024);
  EXPECT_LT(on_device->state.scaler->scale, 0x1p20);
  expect_same(*on_device, *on_cpu);
}

#endif

TEST_F(StepOnDeviceTest, ASplitBatchDrawsTheDropoutNoiseOfTheWholeOne) {
  config::Config config = mid_config();
  config.model.dropout = 0.5;
  const auto whole = make_session_on(the_device(), config);
  const auto split = make_session_on(the_device(), config);
  split->state.recoveries.micro_batch_size = 5;
  const train::StepStats expected = train::run_step(*whole);
  const train::StepStats stats = train::run_step(*split);
  EXPECT_NEAR(stats.grad_norm, expected.grad_norm, 1e-5 * expected.grad_norm);
}

TEST_F(StepOnDeviceTest, NoiseIsCopiedWithoutWaiting) {
  config::Config config = mid_config();
  config.model.dropout = 0.5;
  const Counters c = count_steps(config, 8);
  EXPECT_EQ(c.to_device, 8 * 2);
  EXPECT_EQ(c.waits, 0);
  EXPECT_EQ(c.new_blocks, 0);
}

// Until memory suffices for every step, wherever it ran out.
TEST_F(StepOnDeviceTest, LackOfMemoryAnywhereInStepsTogetherChangesNothing) {
  config::Config config = mid_config();
  const auto expected = make_session_on(the_device(), config);
  train_ahead(*expected, 1);
  const auto measured = make_session_on(the_device(), config);
  const int64_t before = counters().bytes;
  reset_counters();
  train_ahead(*measured, 1);
  const int64_t needed = counters().peak_bytes;
  for (int64_t more = 0; more < 40'000; more += 4'000) {
    const auto session = make_session_on(the_device(), config);
    // The memory that steps need one by one, and a part of what is needed to go ahead.
    behaviour().max_bytes = counters().bytes + (needed - before) + more;
    train_ahead(*session, 1024);
    behaviour().max_bytes = 0;
    expect_same(*session, *expected);
  }
}

}  // namespace
}  // namespace trainer::test::simulated
