// SPDX-License-Identifier: Apache-2.0
// Sessions on threads that stand for the processes of a run: weights, optimizer state and metrics
// have the same bits for any number of them.
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/train/out_of_memory.h"

#include "support/error_of.h"
#include "support/sessions.h"
#include "support/tensors.h"
#include "support/thread_world.h"

namespace trainer::train {
namespace {

using config::Norm;
using config::StepKind;
using test::identical;

/// What some steps leave behind.
struct Outcome {
  at::Tensor values;
  at::Tensor buffers;
  std::vector<at::Tensor> moments;
  checkpoint::RunState state;
  Evaluation evaluation;
};

void expect_identical(const Outcome& a, const Outcome& b) {
  EXPECT_TRUE(identical(a.values, b.values));
  ASSERT_EQ(a.buffers.defined(), b.buffers.defined());
  EXPECT_TRUE(!a.buffers.defined() || identical(a.buffers, b.buffers));
  for (std::size_t i = 0; i < a.moments.size(); ++i) {
    EXPECT_TRUE(identical(a.moments[i], b.moments[i])) << "moment " << i;
  }
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.evaluation.outputs, b.evaluation.outputs);
  EXPECT_EQ(a.evaluation.loss, b.evaluation.loss);
  EXPECT_EQ(a.evaluation.num_correct, b.evaluation.num_correct);
}

void make_shared_step(Session& session) {
  advance(session, run_step(session));
  if (epoch_is_complete(session)) finish_epoch(session);
}

Outcome outcome_of(Session& session) {
  const at::Tensor& buffers = session.model.buffer_values();
  Outcome outcome{.values = session.model.parameters().values.clone(),
                  .buffers = buffers.defined() ? buffers.clone() : at::Tensor(),
                  .moments = {},
                  .state = session.state,
                  .evaluation = session.step->evaluate(session.train)};
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    outcome.moments.push_back(moment.tensor.clone());
  }
  return outcome;
}

// On all ranks. `connect`: what is done with the world of each of them before.
std::vector<Outcome> train_on(int64_t num_ranks, const config::Config& config,
                              int64_t num_threads = 1, int num_steps = 5,
                              const std::function<void(dist::World&)>& connect = nullptr) {
  std::vector<Outcome> outcomes(static_cast<std::size_t>(num_ranks));
  test::run_world(num_ranks, [&](const std::shared_ptr<dist::World>& world) {
    if (connect) connect(*world);
    const auto session =
        make_session(config, data::load_datasets(config.data, static_cast<uint64_t>(config.seed)),
                     c10::kCPU, world);
    use_threads(*session, num_threads);
    for (int i = 0; i < num_steps; ++i) make_shared_step(*session);
    outcomes[static_cast<std::size_t>(world->rank())] = outcome_of(*session);
  });
  return outcomes;
}

void expect_same_for_all_sizes(const config::Config& config,
                               const std::vector<int64_t>& sizes = {2, 3, 4, 6}) {
  const Outcome expected = train_on(1, config).front();
  for (const int64_t size : sizes) {
    SCOPED_TRACE(::testing::Message() << size << " processes");
    for (const Outcome& outcome : train_on(size, config)) expect_identical(outcome, expected);
  }
}

config::Config sharded_config(int64_t num_shards = 4) {
  config::Config config = test::small_config();
  config.data.synthetic.num_samples = 150;
  config.training.batch_size = 22;
  config.model.dropout = 0.2;
  config.distributed.shards = num_shards;
  return config;
}

TEST(ShardsTest, AnyNumberOfProcessesGivesTheSameBitsForEachNorm) {
  for (const auto norm : {Norm::kNone, Norm::kLayer, Norm::kBatch}) {
    SCOPED_TRACE(static_cast<int>(norm));
    config::Config config = sharded_config();
    config.model.norm = norm;
    expect_same_for_all_sizes(config);
  }
}

TEST(ShardsTest, ForOtherNumbersOfShardsToo) {
  for (const int64_t num_shards : {1, 2, 3, 5, 7, 8}) {
    SCOPED_TRACE(num_shards);
    config::Config config = sharded_config(num_shards);
    config.model.norm = Norm::kBatch;
    expect_same_for_all_sizes(config, {2, 3, 5});
  }
}

TEST(ShardsTest, ForEachOptimizer) {
  for (const auto name : {config::OptimizerName::kSgd, config::OptimizerName::kAdam,
                          config::OptimizerName::kAdamw, config::OptimizerName::kRmsprop}) {
    SCOPED_TRACE(static_cast<int>(name));
    config::Config config = sharded_config();
    config.training.optimizer.name = name;
    config.training.optimizer.momentum = 0.9;
    config.training.ema_decay = 0.9;
    expect_same_for_all_sizes(config, {3, 4});
  }
}

TEST(ShardsTest, ForAnyNumberOfThreads) {
  config::Config config = sharded_config();
  config.model.hidden_sizes = {300, 300};  // more weights than travel together
  for (const auto norm : {Norm::kNone, Norm::kBatch}) {
    config.model.norm = norm;
    const Outcome one = train_on(1, config).front();
    expect_identical(train_on(1, config, 3).front(), one);
    expect_identical(train_on(3, config, 2).front(), one);
  }
}

TEST(ShardsTest, ForAccumulatedAndForSplitBatches) {
  for (const auto norm : {Norm::kNone, Norm::kBatch}) {
    config::Config config = sharded_config();
    config.training.batch_size = 10;
    config.training.gradient_accumulation_steps = 3;
    config.model.norm = norm;
    expect_same_for_all_sizes(config);
  }
}

// A batch that is split because memory ran out has the gradient of the whole one.
TEST(ShardsTest, MicroBatchesChangeNoBit) {
  const config::Config config = sharded_config();
  const Outcome expected = train_on(1, config).front();
  for (const int64_t size : {1, 2, 3}) {
    for (const int64_t rows : {1, 4, 7}) {
      test::run_world(size, [&](const std::shared_ptr<dist::World>& world) {
        const auto session = make_session(
            config, data::load_datasets(config.data, static_cast<uint64_t>(config.seed)), c10::kCPU,
            world);
        session->state.recoveries.micro_batch_size = rows;
        use_threads(*session, 1);
        for (int i = 0; i < 5; ++i) make_shared_step(*session);
        EXPECT_TRUE(identical(session->model.parameters().values, expected.values))
            << size << " processes, " << rows << " rows";
      });
    }
  }
}

TEST(ShardsTest, ForEmbeddingsOfCategoriesAndNumbers) {
  const test::TemporaryFolder folder;
  for (const auto kind :
       {config::NumericEmbedding::kPeriodic, config::NumericEmbedding::kPiecewiseLinear}) {
    config::Config config = test::embedding_config(folder, 120);
    config.training.batch_size = 31;
    config.model.hidden_sizes = {40, 40};
    config.model.activation = config::Activation::kSelu;
    config.model.parametric_activation = true;
    config.model.input_scale = true;
    config.model.numeric_embedding = kind;
    config.distributed.shards = 4;
    expect_same_for_all_sizes(config);
  }
}

TEST(ShardsTest, ForTheMembersOfANetwork) {
  const test::TemporaryFolder folder;
  for (const auto norm : {Norm::kNone, Norm::kBatch}) {
    config::Config config = test::embedding_config(folder, 120);
    config.training.batch_size = 31;
    config.model.norm = norm;
    config.model.ensemble_size = 3;
    config.model.numeric_embedding = config::NumericEmbedding::kPeriodic;
    config.distributed.shards = 4;
    expect_same_for_all_sizes(config);
  }
}

// The memory of the CPU stands for that of accelerators.
TEST(ShardsTest, GradientsThatStayOnTheDeviceGiveTheSameBits) {
  config::Config config = sharded_config();
  config.training.step = StepKind::kAutograd;
  const Outcome expected = train_on(1, config).front();
  for (const int64_t size : {2, 3, 4, 6}) {
    SCOPED_TRACE(size);
    const auto connect = [](dist::World& world) { world.connect_devices(c10::kCPU); };
    for (const Outcome& outcome : train_on(size, config, 1, 5, connect)) {
      expect_identical(outcome, expected);
    }
  }
}

TEST(ShardsTest, ForTheAutogradStep) {
  config::Config config = sharded_config();
  config.training.step = StepKind::kAutograd;
  config.training.gradient_accumulation_steps = 2;
  expect_same_for_all_sizes(config);
}

TEST(ShardsTest, ShardsChangeOnlyTheOrderOfTheSums) {
  for (const auto norm : {Norm::kNone, Norm::kLayer, Norm::kBatch}) {
    config::Config config = sharded_config(1);
    config.model.norm = norm;
    // Adam makes steps of gradients that are nothing but rounding, as of a bias before batch norm.
    config.training.optimizer.name = config::OptimizerName::kSgd;
    const Outcome whole = train_on(1, config, 1, 2).front();
    config.distributed.shards = 8;
    const Outcome sharded = train_on(1, config, 1, 2).front();
    EXPECT_TRUE(test::close(sharded.values, whole.values, 1e-6, 1e-5));
    EXPECT_FALSE(identical(sharded.values, whole.values));
    EXPECT_TRUE(!whole.buffers.defined() ||
                test::close(sharded.buffers, whole.buffers, 1e-6, 1e-5));
  }
}

TEST(ShardsTest, TheFusedStepIsThatOfAutograd) {
  config::Config config = sharded_config();
  config.model.norm = Norm::kLayer;
  const Outcome fused = train_on(2, config, 1, 2).front();
  config.training.step = StepKind::kAutograd;
  const Outcome autograd = train_on(2, config, 1, 2).front();
  EXPECT_TRUE(test::close(fused.values, autograd.values, 1e-6, 1e-5));
  EXPECT_NEAR(fused.state.interval_totals.loss_sum, autograd.state.interval_totals.loss_sum, 1e-3);
}

TEST(ShardsTest, AStateIsSharedByTheFirstProcess) {
  const config::Config config = sharded_config();
  const Outcome expected = train_on(1, config).front();
  test::run_world(3, [&](const std::shared_ptr<dist::World>& world) {
    const auto session =
        make_session(config, data::load_datasets(config.data, static_cast<uint64_t>(config.seed)),
                     c10::kCPU, world);
    use_threads(*session, 1);
    if (!world->is_first()) {
      session->model.parameters().values.zero_();
      session->state.position.step = 7;
    }
    share_state(*session);
    for (int i = 0; i < 5; ++i) make_shared_step(*session);
    expect_identical(outcome_of(*session), expected);
  });
}

TEST(ShardsTest, MoreShardsThanRowsOfABatchAreAnError) {
  config::Config config = sharded_config(23);
  EXPECT_EQ(test::message_of(ErrorKind::kUsage, [&] { test::make_small_session(config); }),
            "distributed.shards: expected at most one for each of the 22 rows of a batch, got 23; "
            "set fewer shards (start fewer processes), or a larger training.batch_size");
}

TEST(ShardsTest, BatchNormOfSeveralShardsNeedsTheFusedStep) {
  config::Config config = sharded_config();
  config.model.norm = Norm::kBatch;
  config.training.step = StepKind::kAutograd;
  EXPECT_EQ(
      test::message_of(ErrorKind::kUsage, [&] { test::make_small_session(config); }),
      "model.norm: batch over several shards (distributed.shards) needs the fused step, which "
      "computes in fp32 and bf16 on the CPU; set distributed.sync_batch_norm: false to normalize "
      "each shard "
      "by itself, or model.norm: layer");
}

config::Config local_norm_config(StepKind step, int64_t num_shards = 4) {
  config::Config config = sharded_config(num_shards);
  config.model.norm = Norm::kBatch;
  config.distributed.sync_batch_norm = false;
  config.training.step = step;
  return config;
}

TEST(ShardsTest, ForABatchNormOfEachShard) {
  for (const StepKind step : {StepKind::kFused, StepKind::kAutograd}) {
    for (const int64_t num_shards : {3, 4}) {
      SCOPED_TRACE(::testing::Message() << static_cast<int>(step) << ", " << num_shards);
      config::Config config = local_norm_config(step, num_shards);
      expect_same_for_all_sizes(config);
      config.training.gradient_accumulation_steps = 2;
      expect_same_for_all_sizes(config, {2, 3});
    }
  }
}

TEST(ShardsTest, ABatchNormOfEachShardIsThatOfAutograd) {
  config::Config config = local_norm_config(StepKind::kFused);
  config.training.optimizer.name = config::OptimizerName::kSgd;  // see above
  const Outcome fused = train_on(2, config, 3, 2).front();
  config.training.step = StepKind::kAutograd;
  const Outcome autograd = train_on(1, config, 1, 2).front();
  EXPECT_TRUE(test::close(fused.values, autograd.values, 1e-6, 1e-5));
  EXPECT_TRUE(test::close(fused.buffers, autograd.buffers, 1e-6, 1e-5));
}

// The mean over a batch is that of the means over shards of equal size; the variance is not.
TEST(ShardsTest, ABatchNormOfEachShardKeepsTheMeanOfTheirStatistics) {
  config::Config config = local_norm_config(StepKind::kFused, 2);
  const auto first_norm = [](const config::Config& c) {
    const auto session = test::make_small_session(c);
    make_shared_step(*session);
    return std::pair(session->model.buffers()[0].tensor.clone(),
                     session->model.buffers()[1].tensor.clone());
  };
  const auto [local_mean, local_var] = first_norm(config);
  config.distributed.sync_batch_norm = true;
  const auto [mean, var] = first_norm(config);
  EXPECT_TRUE(test::close(local_mean, mean, 1e-6, 1e-5));
  EXPECT_FALSE(test::close(local_var, var, 1e-6, 1e-5));
}

TEST(ShardsTest, ABatchNormOfASingleShardIsThatOfTheBatch) {
  config::Config config = local_norm_config(StepKind::kFused, 1);
  const Outcome local = train_on(1, config).front();
  config.distributed.sync_batch_norm = true;
  expect_identical(local, train_on(1, config).front());
}

TEST(ShardsTest, ABatchNormOfEachShardNeedsTwoRowsOfIt) {
  const config::Config config = local_norm_config(StepKind::kFused, 10);
  EXPECT_EQ(test::message_of(ErrorKind::kUsage, [&] { test::make_small_session(config); }),
            "distributed.sync_batch_norm: false requires two rows for each of the 10 shards "
            "(distributed.shards); 120 training rows in batches of 22 leave a batch of 10 rows; "
            "set distributed.sync_batch_norm: true, or another batch size");
}

}  // namespace
}  // namespace trainer::train
