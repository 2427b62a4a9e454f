// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/fit.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"
#include "trainer/train/out_of_memory.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/metrics_records.h"
#include "support/sessions.h"
#include "support/tensors.h"
#include "support/test_device.h"

namespace trainer::train {
namespace {

using test::equal_rows;
using test::exact_config;
using test::identical;
using test::make_exact_session;
using test::make_small_session;
using test::small_config;
using test::timeless_lines;
using test::Traces;
using Lines = std::vector<std::string>;

std::string timeless_text(const std::filesystem::path& metrics) {
  return fmt::format("{}", fmt::join(timeless_lines(metrics), "\n"));
}

TEST(FitTest, WritesARecordOfEachStepAndOfEachEpoch) {
  const auto session = make_exact_session(exact_config(), equal_rows(4, 1), equal_rows(2, 1));
  Traces traces(session->config);
  fit(*session, traces.output());
  EXPECT_EQ(
      timeless_text(traces.metrics()),
      R"({"step":1,"epoch":1,"split":"train","loss":1.0,"learning_rate":0.0625,"grad_norm":4.0}
{"step":2,"epoch":1,"split":"train","loss":0.25,"learning_rate":0.0625,"grad_norm":2.0}
{"step":2,"epoch":1,"split":"train","loss":0.625,"learning_rate":0.0625}
{"step":2,"epoch":1,"split":"validation","loss":0.0625,"mae":0.25,"rmse":0.25,"mape":0.25,"r2":0.0}
{"step":3,"epoch":2,"split":"train","loss":0.0625,"learning_rate":0.0625,"grad_norm":1.0}
{"step":4,"epoch":2,"split":"train","loss":0.015625,"learning_rate":0.0625,"grad_norm":0.5}
{"step":4,"epoch":2,"split":"train","loss":0.0390625,"learning_rate":0.0625}
{"step":4,"epoch":2,"split":"validation","loss":0.00390625,"mae":0.0625,"rmse":0.0625,"mape":0.0625,"r2":0.0})");
}

TEST(FitTest, ARecordMeansOverTheStepsSinceTheLastOneInItsEpoch) {
  config::Config config = exact_config();
  config.training.epochs = 1;
  config.logging.save_interval = 2;
  const auto session = make_exact_session(config, equal_rows(5, 1), {});
  Traces traces(config);
  fit(*session, traces.output());
  // Losses 1 and 1/4 of two samples, then 1/16 of the last sample alone.
  EXPECT_EQ(
      timeless_text(traces.metrics()),
      R"({"step":2,"epoch":1,"split":"train","loss":0.625,"learning_rate":0.0625,"grad_norm":2.0}
{"step":3,"epoch":1,"split":"train","loss":0.5125,"learning_rate":0.0625})");
}

// With next to no learning rate, every epoch has the same accuracy.
TEST(FitTest, OfEqualEpochsTheFirstOrTheLastIsTheBest) {
  for (const auto ties : {config::BestTies::kFirst, config::BestTies::kLast}) {
    config::Config config = small_config();
    config.training.best_metric = config::BestMetric::kAccuracy;
    config.training.best_ties = ties;
    config.training.learning_rate = 1e-12;
    const auto session = make_small_session(config);
    Traces traces(config);
    fit(*session, traces.output());
    EXPECT_EQ(session->state.best->epoch, ties == config::BestTies::kFirst ? 1 : 4);
    EXPECT_EQ(session->state.epochs_without_improvement, 3);
  }
}

TEST(FitTest, AShortLastStepIsLeftOut) {
  config::Config config = exact_config();
  config.training.epochs = 2;
  config.training.drop_last = true;
  const auto session = make_exact_session(config, equal_rows(5, 1), {});
  Traces traces(config);
  fit(*session, traces.output());
  EXPECT_EQ(session->state.position.step, 4);  // of two samples each
  EXPECT_EQ(session->state.position.epoch, 2);
}

TEST(FitTest, RecordsOfClassificationHaveAnAccuracy) {
  const auto session = make_small_session(small_config());
  Traces traces(session->config);
  fit(*session, traces.output());
  const Lines lines = timeless_lines(traces.metrics());
  ASSERT_EQ(lines.size(), 4 * (6 + 2));  // 48 training samples
  for (const std::string& line : lines) {
    const auto record = parse_json(line);
    EXPECT_GE(record["accuracy"], 0.0) << line;
    EXPECT_LE(record["accuracy"], 1.0) << line;
  }
}

TEST(FitTest, TheSameSeedGivesTheSameRecordsAndWeights) {
  config::Config config = small_config();
  config.model.dropout = 0.2;
  const auto first = make_small_session(config);
  const auto second = make_small_session(config);
  config.seed = 43;
  const auto other = make_small_session(config);
  Traces first_traces(config);
  Traces second_traces(config);
  Traces other_traces(config);
  fit(*first, first_traces.output());
  fit(*second, second_traces.output());
  fit(*other, other_traces.output());
  EXPECT_EQ(timeless_lines(first_traces.metrics()), timeless_lines(second_traces.metrics()));
  EXPECT_NE(timeless_lines(first_traces.metrics()), timeless_lines(other_traces.metrics()));
  EXPECT_TRUE(identical(first->model.parameters().values, second->model.parameters().values));
}

TEST(FitTest, StopsWhenTheValidationLossHasNotImprovedForLong) {
  config::Config config = exact_config();
  config.training.epochs = 10;
  config.training.early_stopping.patience = 2;
  // The predictions go from 0 to 1, away from these targets.
  const auto session = make_exact_session(config, equal_rows(4, 1), equal_rows(2, -1));
  Traces traces(config);
  EXPECT_FALSE(stopped_early(*session));
  fit(*session, traces.output());
  EXPECT_TRUE(stopped_early(*session));
  EXPECT_TRUE(finished(*session));
  EXPECT_EQ(session->state.position.epoch, 3);
  EXPECT_EQ(session->state.epochs_without_improvement, 2);
  EXPECT_EQ(session->state.best.value().epoch, 1);
  EXPECT_EQ(session->state.best.value().value, 3.0625);  // (0.75 + 1)^2
  EXPECT_EQ(checkpoint::read(traces.output().checkpoints.best()).state.position.epoch, 1);
}

// Of the records that close epochs.
std::vector<double> epoch_rates(const std::filesystem::path& metrics) {
  std::vector<double> rates;
  for (const std::string& line : timeless_lines(metrics)) {
    const auto record = parse_json(line);
    if (record["split"] != "train" || record.contains("grad_norm")) continue;
    rates.push_back(record["learning_rate"]);
  }
  return rates;
}

TEST(FitTest, ReduceOnPlateauFollowsTheValidationLoss) {
  config::Config config = exact_config();
  config.training.epochs = 4;
  config.training.schedule = {
      .name = config::ScheduleName::kReduceOnPlateau, .gamma = 0.5, .patience = 0};
  // The predictions go from 0 to 1, away from these targets.
  const auto session = make_exact_session(config, equal_rows(4, 1), equal_rows(2, -1));
  Traces traces(config);
  fit(*session, traces.output());
  EXPECT_EQ(epoch_rates(traces.metrics()),
            (std::vector<double>{0.0625, 0.0625, 0.03125, 0.015625}));
  EXPECT_EQ(session->state.plateau.value().num_reductions, 3);
  EXPECT_EQ(session->state.plateau->best, 3.0625);
  EXPECT_EQ(
      checkpoint::read(traces.output().checkpoints.last()).state.plateau.value().num_reductions, 3);
}

TEST(FitTest, ReduceOnPlateauDoesNotWatchTheWarmUp) {
  config::Config config = exact_config();
  config.training.epochs = 5;
  config.training.schedule = {.name = config::ScheduleName::kReduceOnPlateau,
                              .warmup_epochs = 2,
                              .gamma = 0.5,
                              .patience = 0};
  const auto session = make_exact_session(config, equal_rows(4, 1), equal_rows(2, -1));
  Traces traces(config);
  fit(*session, traces.output());
  EXPECT_EQ(epoch_rates(traces.metrics()),
            (std::vector<double>{0.03125, 0.0625, 0.0625, 0.0625, 0.03125}));
}

TEST(FitTest, AnImprovementWithinMinDeltaIsNone) {
  config::Config config = exact_config();
  config.training.epochs = 3;
  config.training.early_stopping.min_delta = 0.5;
  const auto session = make_exact_session(config, equal_rows(4, 1), equal_rows(2, 1));
  Traces traces(config);
  fit(*session, traces.output());
  EXPECT_EQ(session->state.best.value().epoch, 1);
  EXPECT_EQ(session->state.epochs_without_improvement, 2);
  EXPECT_FALSE(stopped_early(*session));  // patience 0: never
}

TEST(FitTest, WithoutAValidationPartTheTrainingLossDecides) {
  const auto session = make_exact_session(exact_config(), equal_rows(4, 1), {});
  Traces traces(session->config);
  fit(*session, traces.output());
  EXPECT_EQ(session->state.best.value().epoch, 2);
  EXPECT_EQ(session->state.best.value().value, 0.0390625);
}

// Learns class 0 of the input (1, 1, 1) with ever smaller losses; it is right from the start.
std::unique_ptr<Session> make_one_class_session(config::BestMetric metric) {
  config::Config config = exact_config();
  config.training.best_metric = metric;
  data::Datasets datasets;
  datasets.train = {{4, 3, std::vector<float>(12, 1.0F)}, {0, 0, 0, 0}, {}, {1, 2, 3, 4}};
  datasets.validation = datasets.train;
  datasets.schema = {
      config::Task::kClassification, {"a", "b", "c"}, {"y"}, {"no", "yes"}, {{0, 0, 0}, {1, 1, 1}}};
  auto session = test::make_session(config, std::move(datasets));
  session->model.parameters().values.zero_();
  return session;
}

TEST(FitTest, ARankingNeedsTwoClassesInTheValidationPart) {
  for (const auto& [metric, name] : {std::pair{config::BestMetric::kAuroc, "auroc"},
                                     std::pair{config::BestMetric::kPrAuc, "pr_auc"}}) {
    EXPECT_EQ(std::string(test::error_of([&, by = metric] { make_one_class_session(by); }).what()),
              std::string("training.best_metric: ") + name +
                  " requires two classes in the validation split, but all of its rows have the "
                  "same class; set a larger data.validation_fraction, or use loss");
  }
}

TEST(FitTest, TheBestEpochByLossIsTheLastThatImproves) {
  const auto session = make_one_class_session(config::BestMetric::kLoss);
  Traces traces(session->config);
  fit(*session, traces.output());
  EXPECT_EQ(session->state.best.value().epoch, 2);
  EXPECT_LT(session->state.best.value().value, 0.5);
}

TEST(FitTest, TheBestEpochByAccuracyIsTheFirstOfEqualOnes) {
  const auto session = make_one_class_session(config::BestMetric::kAccuracy);
  Traces traces(session->config);
  fit(*session, traces.output());
  EXPECT_EQ(session->state.best.value().epoch, 1);
  EXPECT_EQ(session->state.best.value().value, 1.0);
}

TEST(FitTest, SavesEveryFewEpochsAndTheLastAndKeepsTheNewest) {
  config::Config config = exact_config();
  config.training.epochs = 5;
  config.checkpoint = {.every_epochs = 2, .keep_last = 2};
  const auto session = make_exact_session(config, equal_rows(4, 1), equal_rows(2, 1));
  Traces traces(config);
  fit(*session, traces.output());
  EXPECT_EQ(test::file_names(traces.checkpoints()),
            (Lines{"best.pt", "checkpoint_epoch_004.pt", "checkpoint_epoch_005.pt", "last.pt"}));
  const checkpoint::Checkpoint last = checkpoint::read(traces.output().checkpoints.last());
  EXPECT_EQ(last.state.position.epoch, 5);
  EXPECT_EQ(last.state.position.step, 10);
  EXPECT_EQ(last.config, "seed: 42\n");
  EXPECT_EQ(last.metrics_bytes, std::filesystem::file_size(traces.metrics()));
}

TEST(FitTest, TheRateOfAResumedEpochIsThatOfTheSamplesSince) {
  const auto session = make_exact_session(exact_config(), equal_rows(4, 1), {});
  advance(*session, run_step(*session));  // two of four samples
  Traces traces(session->config);
  fit(*session, traces.output());
  std::ifstream metrics(traces.metrics());
  for (std::string line; std::getline(metrics, line);) {
    const auto record = parse_json(line);
    if (!record.contains("time_seconds")) continue;
    const double samples =
        record["samples_per_second"].get<double>() * record["time_seconds"].get<double>();
    EXPECT_NEAR(samples, record["epoch"] == 1 ? 2 : 4, 1e-6);
  }
}

TEST(FitTest, TellsItsProgressAfterEachStep) {
  const auto session = make_exact_session(exact_config(), equal_rows(4, 1), {});
  Traces traces(session->config);
  Lines seen;
  traces.output().progress = [&](const run::Progress& p) {
    seen.push_back(fmt::format("{}/{} {}/{} {} {}", p.epoch, p.num_epochs, p.samples, p.num_samples,
                               p.total_samples, p.loss));
  };
  fit(*session, traces.output());
  EXPECT_EQ(seen,
            (Lines{"1/2 2/4 2 1", "1/2 4/4 4 0.25", "2/2 2/4 6 0.0625", "2/2 4/4 8 0.015625"}));
}

TEST(FitTest, TheTestPartIsEvaluatedWithTheWeightsOfTheBestEpoch) {
  config::Config config = exact_config();
  config.training.epochs = 3;
  const auto session = make_exact_session(config, equal_rows(4, 1), equal_rows(2, -1));
  session->data.test = equal_rows(2, 0);
  session->test = make_resident(session->data.test, session->data.schema, test::test_device());
  Traces traces(config);
  fit(*session, traces.output());
  const metrics::Report result = evaluate_best(*session, traces.output()).test.value();
  EXPECT_EQ(result.loss, 0.5625);  // epoch 1 was best, its prediction is 3/4
  EXPECT_EQ(
      timeless_lines(traces.metrics()).back(),
      R"({"step":2,"epoch":1,"split":"test","loss":0.5625,"mae":0.75,"rmse":0.75,"mape":3.377699720527872e+15,"r2":0.0})");
}

// With the decay 1/2 the average is (0 + p1) / 4 + p2 / 2 after two steps. The predictions are 1/2
// and 3/4: the average predicts 1/8 + 3/8 = 1/2, with the loss 1/4; the weights themselves 1/16.
TEST(FitTest, TheAveragedWeightsAreEvaluatedAndTestedAndTheOthersTrained) {
  config::Config config = exact_config();
  config.training.epochs = 1;
  config.training.ema_decay = 0.5;
  const auto session = make_exact_session(config, equal_rows(4, 1), equal_rows(2, 1));
  session->optimizer_state.moments.back().tensor.zero_();
  session->data.test = equal_rows(2, 1);
  session->test = make_resident(session->data.test, session->data.schema, test::test_device());
  Traces traces(config);
  fit(*session, traces.output());
  EXPECT_EQ(
      timeless_lines(traces.metrics()).back(),
      R"({"step":2,"epoch":1,"split":"validation","loss":0.25,"mae":0.5,"rmse":0.5,"mape":0.5,"r2":0.0})");
  EXPECT_EQ(test::find(session->model.state(), "layers.0.bias").item<float>(), 0.1875F);
  EXPECT_EQ(evaluate_best(*session, traces.output()).test.value().loss, 0.25);
  // The same without the best checkpoint.
  const checkpoint::Checkpoint last = checkpoint::read(traces.output().checkpoints.last());
  restore(*session, last);
  std::filesystem::remove(traces.output().checkpoints.best());
  EXPECT_EQ(evaluate_best(*session, traces.output()).test.value().loss, 0.25);
}

TEST(FitTest, WithoutATestPartThereIsNoTestResult) {
  const auto session = make_exact_session(exact_config(), equal_rows(4, 1), {});
  Traces traces(session->config);
  fit(*session, traces.output());
  EXPECT_FALSE(evaluate_best(*session, traces.output()).test.has_value());
}

}  // namespace
}  // namespace trainer::train
