// SPDX-License-Identifier: Apache-2.0

#include "trainer/train/session.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/archive/archive.h"
#include "trainer/base/error.h"
#include "trainer/run/checkpoint/compare.h"
#include "trainer/table/split/order.h"

#include "support/checkpoints.h"
#include "support/error_of.h"
#include "support/files.h"
#include "support/metrics_records.h"
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

using config::OptimizerName;
using test::error_of;
using test::identical;
using test::make_small_session;
using test::make_step;
using test::small_config;

struct Case {
  std::string name;
  std::function<void(config::Config&)> change;
};

class ResumeTest : public testing::TestWithParam<Case> {
 protected:
  static config::Config case_config() {
    config::Config config = small_config();
    GetParam().change(config);
    return config;
  }
};

// All that a checkpoint would keep, what a later version adds among it.
void expect_same_state(const Session& resumed, const Session& straight) {
  const checkpoint::Checkpoint actual = snapshot(resumed);
  const checkpoint::Checkpoint expected = snapshot(straight);
  EXPECT_EQ(first_difference(actual, expected), std::nullopt);
  EXPECT_TRUE(actual == expected);
}

TEST_P(ResumeTest, StepsAfterARestoreAreThoseOfARunWithoutABreak) {
  const config::Config config = case_config();
  const test::TemporaryFolder folder;
  const auto straight = make_small_session(config);
  for (int step = 0; step < 16; ++step) {
    // In the middle of the first epoch, and at the beginning of one.
    if (step == 2 || straight->state.position.samples_in_epoch == 0) {
      checkpoint::write(folder.path() / "state.pt", snapshot(*straight));
    }
    make_step(*straight);
    const auto resumed = make_small_session(config);
    restore(*resumed, checkpoint::read(folder.path() / "state.pt"));
    while (resumed->state.position.step < straight->state.position.step) make_step(*resumed);
    expect_same_state(*resumed, *straight);
  }
}

TEST_P(ResumeTest, RecordsAfterARestoreAreThoseOfARunWithoutABreak) {
  config::Config config = case_config();
  config.checkpoint.keep_last = 4;
  const auto straight = make_small_session(config);
  test::Traces straight_traces(config);
  fit(*straight, straight_traces.output());

  const auto from = checkpoint::read(straight_traces.checkpoints() / "checkpoint_epoch_002.pt");
  const auto resumed = make_small_session(config);
  restore(*resumed, from);
  test::Traces traces(config,
                      test::read_file(straight_traces.metrics()).substr(0, from.metrics_bytes));
  fit(*resumed, traces.output());

  expect_same_state(*resumed, *straight);
  EXPECT_EQ(test::timeless_lines(traces.metrics()),
            test::timeless_lines(straight_traces.metrics()));
  EXPECT_EQ(next_learning_rate(*resumed), next_learning_rate(*straight));
}

INSTANTIATE_TEST_SUITE_P(
    EveryKindOfState, ResumeTest,
    testing::Values(Case{"adamw", [](config::Config&) {}},
                    Case{"adam", [](auto& c) { c.training.optimizer.name = OptimizerName::kAdam; }},
                    Case{"sgd", [](auto& c) { c.training.optimizer.name = OptimizerName::kSgd; }},
                    Case{"sgd_without_momentum",
                         [](auto& c) {
                           c.training.optimizer.name = OptimizerName::kSgd;
                           c.training.optimizer.momentum = 0;
                         }},
                    Case{"rmsprop",
                         [](auto& c) {
                           c.training.optimizer.name = OptimizerName::kRmsprop;
                           c.training.lr_factors = {"*.bias=0.1"};
                         }},
                    Case{"realmlp",
                         [](auto& c) {
                           c.model.input_scale = true;
                           c.model.parametric_activation = true;
                           c.model.numeric_embedding = config::NumericEmbedding::kPeriodic;
                           c.model.init = config::Init::kData;
                           c.model.parametrization = config::Parametrization::kNtk;
                         }},
                    Case{"members",
                         [](auto& c) {
                           c.model.ensemble_size = 3;
                           c.model.numeric_embedding = config::NumericEmbedding::kPiecewiseLinear;
                           c.model.dropout = 0.2;
                         }},
                    Case{"drop_last",
                         [](auto& c) {
                           c.training.drop_last = true;
                           c.training.schedule.name = config::ScheduleName::kCoslog;
                           c.training.schedule.weight_decay = config::FactorSchedule::kFlatCosine;
                           c.training.schedule.dropout = config::FactorSchedule::kFlatCosine;
                           c.model.dropout = 0.3;
                         }},
                    Case{"dropout", [](auto& c) { c.model.dropout = 0.3; }},
                    Case{"batch_norm", [](auto& c) { c.model.norm = config::Norm::kBatch; }},
                    Case{"accumulation",
                         [](auto& c) {
                           c.training.batch_size = 4;
                           c.training.gradient_accumulation_steps = 3;
                           c.logging.save_interval = 5;
                         }},
                    Case{"embeddings",
                         [](auto& c) {
                           static const test::TemporaryFolder folder;
                           c = test::embedding_config(folder, 60);
                           c.data.validation_fraction = 0.1;
                         }},
                    Case{"averaged_weights", [](auto& c) { c.training.ema_decay = 0.9; }},
                    Case{"one_cycle",
                         [](auto& c) {
                           c.training.schedule.name = config::ScheduleName::kOneCycle;
                         }},
                    Case{"plateau",
                         [](auto& c) {
                           c.training.schedule = {
                               .name = config::ScheduleName::kReduceOnPlateau,
                               .gamma = 0.5,
                               .patience = 0,
                               .threshold = 0.5,
                           };
                         }},
                    Case{"warm_up", [](auto& c) { c.training.schedule.warmup_epochs = 1.5; }}),
    [](const auto& test) { return test.param.name; });

// A session and what another one of the same configuration would save.
struct Refused {
  std::unique_ptr<Session> session = make_small_session(small_config());
  std::unique_ptr<Session> other = make_small_session(small_config());
  checkpoint::Checkpoint saved = snapshot(*other);

  std::string message() const {
    const at::Tensor before = session->model.parameters().values.clone();
    const Error error = error_of([&] { restore(*session, saved); });
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
    EXPECT_TRUE(identical(session->model.parameters().values, before));
    EXPECT_EQ(session->state.position.step, 0);
    return error.what();
  }
};

constexpr const char* kDoesNotFit = "the checkpoint does not match the model:\n  ";

TEST(SnapshotTest, HasTheNamesAndShapesOfTheModel) {
  const auto session = make_small_session(small_config());
  const checkpoint::Checkpoint saved = snapshot(*session);
  std::vector<std::string> names;
  for (const auto& named : saved.model) names.push_back(named.name);
  EXPECT_EQ(names, (std::vector<std::string>{"layers.0.weight", "layers.0.bias", "layers.1.weight",
                                             "layers.1.bias", "layers.2.weight", "layers.2.bias"}));
  EXPECT_EQ(saved.model[0].tensor.shape, (std::vector<int64_t>{8, 5}));
  EXPECT_EQ(saved.optimizer, "adamw");
  ASSERT_EQ(saved.moments.size(), 2U);
  EXPECT_EQ(saved.moments[0].name, "exp_avg");
  EXPECT_EQ(saved.moments[1].name, "exp_avg_sq");
  EXPECT_EQ(saved.moments[1].tensors[5].name, "layers.2.bias");
  EXPECT_EQ(saved.schema.labels, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(saved.schema.scaling.shift, session->data.schema.scaling.shift);
}

TEST(SnapshotTest, EverythingIsRestored) {
  config::Config config = small_config();
  config.training.ema_decay = 0.9;
  config.training.schedule.name = config::ScheduleName::kReduceOnPlateau;
  const auto trained = make_small_session(config);
  trained->state.scaler = schedule::LossScaleState{};  // as a device with fp16 has it
  make_step(*trained);
  checkpoint::Checkpoint saved = snapshot(*trained);
  saved.optimizer_step = 20;
  saved.state.position = {.epoch = 3, .step = 20, .samples_in_epoch = 16};
  saved.state.epoch_totals = {.loss_sum = 1.5, .num_correct = 4, .num_samples = 8};
  saved.state.interval_totals = {.loss_sum = 2.5, .num_correct = 5, .num_samples = 9};
  saved.state.best = checkpoint::Best{.epoch = 1, .value = 0.75};
  saved.state.epochs_without_improvement = 2;
  saved.state.recoveries = {.skipped_steps = 3,
                            .rollbacks = 4,
                            .overflowed_steps = 5,
                            .out_of_memory = 6,
                            .micro_batch_size = 7,
                            .has_fallen_back = true};
  saved.state.scaler = schedule::LossScaleState{.scale = 1024, .good_steps = 8};
  saved.state.plateau = schedule::PlateauState{
      .best = 0.5, .bad_epochs = 9, .cooldown_left = 10, .num_reductions = 11};

  const auto session = make_small_session(config);
  session->state.scaler = schedule::LossScaleState{};
  restore(*session, saved);
  const checkpoint::Checkpoint again = snapshot(*session);
  EXPECT_EQ(first_difference(again, saved), std::nullopt);
  EXPECT_TRUE(again == saved);
}

TEST(SnapshotTest, AMissingTensorIsRefused) {
  Refused refused;
  refused.saved.model.erase(refused.saved.model.begin() + 1);
  EXPECT_EQ(refused.message(),
            std::string(kDoesNotFit) + "model layers.0.bias: missing from the file");
}

TEST(SnapshotTest, EachMisfitIsNamed) {
  Refused refused;
  refused.saved.model[0].name = "layers.7.weight";
  refused.saved.model[2].tensor.shape = {64};
  refused.saved.model[3].tensor.dtype = archive::DType::kFloat64;
  refused.saved.moments[1].tensors[0].tensor.shape = {5, 8};
  EXPECT_EQ(refused.message(),
            std::string(kDoesNotFit) +
                "model layers.0.weight: missing from the file\n"
                "  model layers.1.weight: expected float32 [8, 8], got float32 [64]\n"
                "  model layers.1.bias: expected float32 [8], got float64 [8]\n"
                "  model layers.7.weight: no such tensor in the model\n"
                "  exp_avg_sq layers.0.weight: expected float32 [8, 5], got float32 [5, 8]");
}

TEST(SnapshotTest, AnotherOptimizerIsRefused) {
  Refused refused;
  refused.saved.optimizer = "sgd";
  EXPECT_EQ(refused.message(), std::string(kDoesNotFit) + "optimizer: expected adamw, got sgd");
}

TEST(SnapshotTest, AMissingMomentIsRefused) {
  Refused refused;
  refused.saved.moments.pop_back();
  EXPECT_EQ(refused.message(),
            std::string(kDoesNotFit) + "optimizer moment exp_avg_sq: missing from the file");
}

TEST(SnapshotTest, AnUnknownMomentIsRefused) {
  Refused refused;
  refused.saved.moments.push_back({"momentum_buffer", {}});
  EXPECT_EQ(refused.message(), std::string(kDoesNotFit) +
                                   "optimizer moment momentum_buffer: unknown to this optimizer");
}

TEST(SnapshotTest, APositionBeyondTheEpochIsRefused) {
  Refused refused;
  refused.saved.state.position.samples_in_epoch = 49;
  EXPECT_EQ(refused.message(),
            std::string(kDoesNotFit) + "samples_in_epoch: expected at most 48, got 49");
}

TEST(SnapshotTest, TheWeightsAloneComeWithoutTheOptimizer) {
  const auto trained = make_small_session(small_config());
  make_step(*trained);
  checkpoint::Checkpoint saved = snapshot(*trained);
  saved.moments.clear();
  const auto session = make_small_session(small_config());
  restore_model(session->model, saved);
  EXPECT_TRUE(identical(session->model.parameters().values, trained->model.parameters().values));
  saved.model.pop_back();
  EXPECT_STREQ(error_of([&] { restore_model(session->model, saved); }).what(),
               "the checkpoint does not match the model:\n"
               "  model layers.2.bias: missing from the file");
}

// What init_from is for: the first layers of another model, and a new head.
TEST(InitialWeightsTest, TensorsThatAreSkippedKeepTheirOwnValues) {
  const test::TemporaryFolder folder;
  const auto trained = make_small_session(small_config());
  make_step(*trained);
  checkpoint::write(folder.path() / "trained.pt", snapshot(*trained));
  const auto session = make_small_session(small_config());
  const at::Tensor head = test::find(session->model.state(), "layers.2.weight").clone();
  load_initial_weights(*session, folder.path() / "trained.pt", {"layers.2.*"});
  EXPECT_TRUE(identical(test::find(session->model.state(), "layers.1.weight"),
                        test::find(trained->model.state(), "layers.1.weight")));
  EXPECT_TRUE(identical(test::find(session->model.state(), "layers.2.weight"), head));
}

TEST(InitialWeightsTest, EveryMissingExtraAndMisshapenNameIsListedAndNothingTaken) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "weights.pt";
  archive::save(file, {{"layers.0.weight", test::float_data({5}, {1, 2, 3, 4, 5})},
                       {"layers.0.bias", test::float_data({8}, std::vector<float>(8, 1))},
                       {"head.bias", test::float_data({1}, {1})}});
  const auto session = make_small_session(small_config());
  const at::Tensor before = session->model.parameters().values.clone();
  const Error error = error_of([&] { load_initial_weights(*session, file, {"layers.2.*"}); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  EXPECT_EQ(error.what(),
            file.string() +
                ": these weights do not match the model; exclude tensors with model.init_skip:\n"
                "  model layers.0.weight: expected float32 [8, 5], got float32 [5]\n"
                "  model layers.1.weight: missing from the file\n"
                "  model layers.1.bias: missing from the file\n"
                "  model head.bias: no such tensor in the model");
  EXPECT_TRUE(identical(session->model.parameters().values, before));
}

TEST(InitialWeightsTest, TheAverageBeginsWithThem) {
  const test::TemporaryFolder folder;
  checkpoint::write(folder.path() / "weights.pt", snapshot(*make_small_session(small_config())));
  config::Config config = small_config();
  config.seed = 7;
  config.training.ema_decay = 0.9;
  const auto session = make_small_session(config);
  load_initial_weights(*session, folder.path() / "weights.pt", {});
  EXPECT_TRUE(identical(session->optimizer_state.moments.back().tensor,
                        session->model.parameters().values));
}

TEST(InitialWeightsTest, OtherFloatTypesAreConverted) {
  const test::TemporaryFolder folder;
  const std::vector<double> values = {0.5, 0.25, 0.125};
  archive::TensorData data;
  data.dtype = archive::DType::kFloat64;
  data.shape = {3};
  data.data = reinterpret_cast<const std::byte*>(values.data());
  archive::save(folder.path() / "weights.pt", {{"layers.2.bias", data}});
  const auto session = make_small_session(small_config());
  load_initial_weights(*session, folder.path() / "weights.pt",
                       {"layers.0.*", "layers.1.*", "layers.2.weight"});
  EXPECT_EQ(test::elements(test::find(session->model.state(), "layers.2.bias")),
            (std::vector<float>{0.5F, 0.25F, 0.125F}));
}

}  // namespace

}  // namespace trainer::train
