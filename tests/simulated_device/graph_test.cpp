// SPDX-License-Identifier: Apache-2.0
// Steps that are launched as one graph.
#include "trainer/torch/device/graph.h"

#include <memory>

#include <gtest/gtest.h>
#include <torch/version.h>

#include "trainer/base/error.h"
#include "trainer/train/out_of_memory.h"

#include "simulated_device/memory.h"
#include "simulated_device/recording.h"
#include "simulated_device/state.h"
#include "support/sessions.h"
#include "support/trained.h"

namespace trainer::test::simulated {
namespace {

using train::Session;

int64_t num_graphs = 0;
int64_t num_graph_launches = 0;

class SimulatedGraph : public device::Graph {
 public:
  void record(FunctionRef<void()> work) override {
    work();
    const RecordingScope scope(recording_);
    work();
    ++num_graphs;
  }
  void launch() override {
    ++num_graph_launches;
    simulated::launch(recording_);
  }

 private:
  Recording recording_;
};

/// Its last operator does not run.
class WrongGraph : public device::Graph {
 public:
  void record(FunctionRef<void()> work) override {
    work();
    const RecordingScope scope(recording_);
    work();
    recording_.pop_back();
  }
  void launch() override { simulated::launch(recording_); }

 private:
  Recording recording_;
};

template <class Graph>
std::unique_ptr<device::Graph> make() {
  return std::make_unique<Graph>();
}

class StepGraphTest : public testing::Test {
 protected:
  void SetUp() override {
    state().behaviour = {};
    num_graphs = num_graph_launches = 0;
    device::set_graph_maker(kType, make<SimulatedGraph>);
  }
  void TearDown() override {
    state().behaviour = {};
    device::set_graph_maker(kType, nullptr);
  }
};

// The last batch of an epoch is smaller.
config::Config graph_config() {
  config::Config config = small_config();
  config.data.synthetic = {.num_samples = 330, .num_features = 16, .num_classes = 10};
  config.data.validation_fraction = 0;
  config.data.test_fraction = 0;
  config.model.hidden_sizes = {32, 32};
  config.training.batch_size = 32;
  return config;
}

std::unique_ptr<Session> session_on_device(const config::Config& config) {
  const auto seed = static_cast<uint64_t>(config.seed);
  auto session = train::make_session(config, data::load_datasets(config.data, seed), the_device());
  train::use_threads_within_memory(*session, 1);
  return session;
}

std::unique_ptr<Session> trained(const config::Config& config) {
  auto session = session_on_device(config);
  train_ahead(*session, 1024);
  return session;
}

config::Config without_graphs(config::Config config) {
  config.training.cuda_graphs = config::CudaGraphs::kOff;
  return config;
}

void expect_same_with_graph(const config::Config& config) {
  const auto expected = trained(without_graphs(config));
  EXPECT_EQ(num_graphs, 0);
  const auto session = trained(config);
  EXPECT_EQ(num_graphs, 1);
  EXPECT_GT(num_graph_launches, 30);
  expect_same(*session, *expected);
  num_graphs = num_graph_launches = 0;
}

TEST_F(StepGraphTest, TheGraphGivesTheSameBits) { expect_same_with_graph(graph_config()); }

TEST_F(StepGraphTest, AlsoWithDropoutThatChangesAndRunningStatistics) {
  config::Config config = graph_config();
  config.model.dropout = 0.3;
  config.training.schedule.dropout = config::FactorSchedule::kFlatCosine;
  config.model.norm = config::Norm::kBatch;
  config.training.ema_decay = 0.9;
  expect_same_with_graph(config);
  config.model.activation_checkpointing = true;
  config.model.hidden_sizes = {32, 32, 32, 32};
  expect_same_with_graph(config);
}

TEST_F(StepGraphTest, AlsoWithBothEmbeddingsOfNumbersAndMembers) {
  config::Config config = graph_config();
  config.model.numeric_embedding = config::NumericEmbedding::kPeriodic;
  config.model.dropout = 0.1;
  expect_same_with_graph(config);
  config.model.numeric_embedding = config::NumericEmbedding::kPiecewiseLinear;
  config.model.ensemble_size = 4;
  expect_same_with_graph(config);
}

TEST_F(StepGraphTest, AlsoInBf16AndWithOneLogitAndWithEmbeddingsOfCategories) {
  config::Config config = graph_config();
  config.precision = config::Precision::kBf16;
  expect_same_with_graph(config);
  config.precision = config::Precision::kFp32;
  config.data.synthetic.num_classes = 2;
  config.training.loss = config::Loss::kBinaryCrossEntropy;
  expect_same_with_graph(config);
  const TemporaryFolder folder;
  config = embedding_config(folder, 330);
  config.training.batch_size = 32;
  expect_same_with_graph(config);
}

#if TORCH_VERSION_MAJOR >= 2  // before, the CPU's kernels have no fp16

TEST_F(StepGraphTest, AlsoInFp16WhoseLossScaleChanges) {
  config::Config config = graph_config();
  config.precision = config::Precision::kFp16;
  const auto train_from_large_scale = [](const config::Config& c) {
    auto session = session_on_device(c);
    session->state.scaler->scale = 0x1p24;
    train_ahead(*session, 1024);
    return session;
  };
  const auto expected = train_from_large_scale(without_graphs(config));
  EXPECT_LT(expected->state.scaler->scale, 0x1p20);
  const auto session = train_from_large_scale(config);
  EXPECT_EQ(num_graphs, 1);
  expect_same(*session, *expected);
}

#endif

TEST_F(StepGraphTest, AStepTakesFewLaunchesNoNewMemoryAndWaitsForNothing) {
  const auto session = session_on_device(graph_config());
  start_steps(*session, 6);
  reset_counters();
  start_steps(*session, 3);
  const Counters c = counters();
  EXPECT_EQ(c.operators, 3 * 10);
  EXPECT_EQ(c.new_blocks, 0);
  EXPECT_EQ(c.waits, 0);
  EXPECT_EQ(c.to_device, 0);
}

TEST_F(StepGraphTest, AGraphWithOtherBitsIsNotUsed) {
  const config::Config config = graph_config();
  const auto expected = trained(without_graphs(config));
  device::set_graph_maker(kType, make<WrongGraph>);
  testing::internal::CaptureStderr();
  const auto session = trained(config);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: mps:0: steps are launched without a graph: its results differ from those of "
            "the operations one by one\n");
  expect_same(*session, *expected);
}

// In whichever operator, also of those that are recorded and compared.
TEST_F(StepGraphTest, LackOfMemoryInAnyOperatorChangesNothing) {
  config::Config config = graph_config();
  config.training.epochs = 1;
  config.model.norm = config::Norm::kBatch;  // batches are not split, which would change the sums
  const QuietLog quiet;
  const auto expected = trained(without_graphs(config));
  const auto measured = session_on_device(config);
  reset_counters();
  train_ahead(*measured, 1024);
  const int64_t num_operators = counters().operators;
  int64_t num_survived = 0;
  for (int64_t n = 1; n <= num_operators; n += 3) {
    const auto session = session_on_device(config);
    state().behaviour.oom_in = n;
    try {
      train_ahead(*session, 1024);
      state().behaviour.oom_in = 0;
      expect_same(*session, *expected);
      ++num_survived;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kOutOfMemory);  // of a step that ran by itself
    }
    state().behaviour.oom_in = 0;
  }
  EXPECT_GT(3 * num_survived, num_operators / 2);
}

TEST_F(StepGraphTest, NaNOfTheGraphIsFoundAndTheStepRunAgain) {
  const config::Config config = graph_config();
  const auto expected = trained(without_graphs(config));
  const QuietLog quiet;
  for (int64_t n = 150; n < 600; n += 7) {
    const auto session = session_on_device(config);
    state().behaviour.nan_in = n;
    train_ahead(*session, 1024);
    state().behaviour.nan_in = 0;
    EXPECT_TRUE(session->model.parameters().values.isfinite().all().item<bool>());
  }
}

}  // namespace
}  // namespace trainer::test::simulated
