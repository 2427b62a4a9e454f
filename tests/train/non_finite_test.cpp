// SPDX-License-Identifier: Apache-2.0
// What fit() does when loss or gradient is not finite.
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"
#include "trainer/train/fit.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/metrics_records.h"
#include "support/sessions.h"
#include "support/tensors.h"

namespace trainer::train {
namespace {

using config::OnNonFinite;
using test::equal_rows;
using test::error_of;
using test::exact_config;
using test::identical;
using test::make_exact_session;
using test::timeless_lines;
using test::Traces;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr const char* kAdvice =
    "lower training.learning_rate, set training.gradient_clip_norm: 1, try training.on_nonfinite: "
    "skip or rollback, check the data for extreme values; the last good checkpoint is ";

config::Config config_with(OnNonFinite policy) {
  config::Config config = exact_config();
  config.training.on_nonfinite = policy;
  return config;
}

// Four rows, of which one can never be learned.
data::Dataset one_bad_row() {
  data::Dataset rows = equal_rows(4, 1);
  rows.values[2] = kInfinity;
  return rows;
}

TEST(NonFiniteTest, TheRunStopsBeforeTheWeightsChangeAndNamesTheRows) {
  const auto session =
      make_exact_session(config_with(OnNonFinite::kStop), equal_rows(4, kInfinity), {});
  Traces traces(session->config);
  const Error error = error_of([&] { fit(*session, traces.output()); });
  EXPECT_EQ(error.kind(), ErrorKind::kNonFinite);
  const std::string message = error.what();
  EXPECT_TRUE(
      message.starts_with("step 1 (epoch 1): the gradient is not finite (norm inf, mean "
                          "loss inf); the loss is not finite for rows "))
      << message;
  EXPECT_TRUE(message.ends_with(kAdvice + traces.output().checkpoints.last().string())) << message;
  const at::Tensor& values = session->model.parameters().values;
  EXPECT_TRUE(identical(values, at::zeros_like(values)));
  EXPECT_EQ(test::read_file(traces.metrics()), "");
  EXPECT_EQ(checkpoint::read(traces.output().checkpoints.last()).state.position.step, 0);
}

TEST(NonFiniteTest, TheOneRowWithoutAFiniteLossIsNamed) {
  config::Config config = config_with(OnNonFinite::kStop);
  config.training.batch_size = 4;
  config.data.source = config::Source::kCsv;
  config.data.path = "/data/house.csv";
  data::Dataset rows = one_bad_row();
  rows.source_lines = {2, 3, 17, 5};
  const auto session = make_exact_session(config, std::move(rows), {});
  Traces traces(config);
  EXPECT_EQ(error_of([&] { fit(*session, traces.output()); }).what(),
            "step 1 (epoch 1): the gradient is not finite (norm inf, mean loss inf); the loss is "
            "not finite for line 17 of /data/house.csv; " +
                (kAdvice + traces.output().checkpoints.last().string()));
}

TEST(NonFiniteTest, ManyRowsAreCutShort) {
  config::Config config = config_with(OnNonFinite::kStop);
  config.training.batch_size = 12;
  const auto session = make_exact_session(config, equal_rows(12, kInfinity), {});
  Traces traces(config);
  const std::string message = error_of([&] { fit(*session, traces.output()); }).what();
  EXPECT_NE(message.find("for rows 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ... (12 in total); "),
            std::string::npos)
      << message;
}

TEST(NonFiniteTest, ASkippedStepCountsAsAStepAndChangesNothing) {
  config::Config config = config_with(OnNonFinite::kSkip);
  config.training.epochs = 1;
  config.training.batch_size = 1;
  const auto session = make_exact_session(config, one_bad_row(), {});
  Traces traces(config);
  EXPECT_EQ(fit(*session, traces.output()), 0);
  EXPECT_EQ(session->state.position.step, 4);
  EXPECT_EQ(session->state.recoveries.skipped_steps, 1);
  const std::vector<std::string> lines = timeless_lines(traces.metrics());
  ASSERT_EQ(lines.size(), 4U);  // three steps and the epoch
  EXPECT_EQ(lines.back(),
            R"({"step":4,"epoch":1,"split":"train","loss":0.4375,"learning_rate":0.0625,)"
            R"("skipped_steps":1})");  // (1 + 1/4 + 1/16) / 3
  EXPECT_EQ(checkpoint::read(traces.output().checkpoints.last()).state.recoveries.skipped_steps, 1);
}

TEST(NonFiniteTest, TheAdviceIsForWhatIsSet) {
  config::Config config = config_with(OnNonFinite::kSkip);
  config.training.gradient_clip_norm = 1;
  const auto session = make_exact_session(config, equal_rows(4, kInfinity), {});
  Traces traces(config);
  const std::string message = error_of([&] { fit(*session, traces.output()); }).what();
  EXPECT_NE(message.find("; lower training.learning_rate or training.gradient_clip_norm, check "
                         "the data for extreme values; "),
            std::string::npos)
      << message;
}

TEST(NonFiniteTest, AnEpochWithoutASingleStepEndsTheRun) {
  const auto session =
      make_exact_session(config_with(OnNonFinite::kSkip), equal_rows(4, kInfinity), {});
  Traces traces(session->config);
  const Error error = error_of([&] { fit(*session, traces.output()); });
  EXPECT_EQ(error.kind(), ErrorKind::kNonFinite);
  EXPECT_EQ(error.what(),
            "step 2 (epoch 1): every step of the epoch was skipped; lower training.learning_rate, "
            "set training.gradient_clip_norm: 1, check the data for extreme values; the last good "
            "checkpoint is " +
                traces.output().checkpoints.last().string());
}

// The error of the model grows by the factor 1 - 8 * rate a step: -7 for the rate 1, until it is
// not finite any more; -3 for 1/2; -1 for 1/4; for 1/8 it is gone.
config::Config diverging() {
  config::Config config = config_with(OnNonFinite::kRollback);
  config.training.epochs = 30;
  config.training.learning_rate = 1;
  config.checkpoint.keep_last = 100;
  return config;
}

TEST(NonFiniteTest, ARollbackGoesOnFromTheLastEpochWithHalfTheLearningRate) {
  const auto session = make_exact_session(diverging(), equal_rows(4, 1), {});
  Traces traces(session->config);
  EXPECT_EQ(fit(*session, traces.output()), 0);
  EXPECT_EQ(session->state.position.epoch, 30);
  EXPECT_EQ(session->state.position.step, 60);
  EXPECT_EQ(session->state.recoveries.rollbacks, 2);
  EXPECT_EQ(learning_rate_at(*session, 0), 0.25);
  // No step stands twice and none is missing: two records a step, one more an epoch.
  const std::vector<std::string> lines = timeless_lines(traces.metrics());
  ASSERT_EQ(lines.size(), 90U);
  std::vector<int64_t> steps;
  for (const std::string& line : lines) {
    const auto record = parse_json(line);
    if (record.contains("grad_norm")) steps.push_back(record["step"]);
  }
  ASSERT_EQ(steps.size(), 60U);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i], static_cast<int64_t>(i) + 1);
  }
  EXPECT_EQ(parse_json(lines.back())["rollbacks"], 2);
}

TEST(NonFiniteTest, RollbacksAreTheSameAfterAResume) {
  const auto whole = make_exact_session(diverging(), equal_rows(4, 1), {});
  Traces uninterrupted_traces(whole->config);
  fit(*whole, uninterrupted_traces.output());
  // From before the first rollback, and from between them.
  for (const char* name : {"checkpoint_epoch_003.pt", "checkpoint_epoch_025.pt"}) {
    const auto from = checkpoint::read(uninterrupted_traces.checkpoints() / name);
    const auto session = make_exact_session(diverging(), equal_rows(4, 1), {});
    restore(*session, from);
    Traces traces(session->config,
                  test::read_file(uninterrupted_traces.metrics()).substr(0, from.metrics_bytes));
    for (const std::string& file : test::file_names(uninterrupted_traces.checkpoints())) {
      std::filesystem::copy(uninterrupted_traces.checkpoints() / file, traces.checkpoints() / file);
    }
    traces.output().checkpoints.rewind(from, traces.checkpoints() / name);
    fit(*session, traces.output());
    EXPECT_EQ(timeless_lines(traces.metrics()), timeless_lines(uninterrupted_traces.metrics()))
        << name;
    EXPECT_TRUE(identical(session->model.parameters().values, whole->model.parameters().values));
  }
}

TEST(NonFiniteTest, TooManyRollbacksEndTheRun) {
  const auto session =
      make_exact_session(config_with(OnNonFinite::kRollback), equal_rows(4, kInfinity), {});
  Traces traces(session->config);
  const Error error = error_of([&] { fit(*session, traces.output()); });
  EXPECT_EQ(error.kind(), ErrorKind::kNonFinite);
  EXPECT_NE(std::string(error.what()).find(", after 10 rollbacks; "), std::string::npos)
      << error.what();
  EXPECT_EQ(checkpoint::read(traces.output().checkpoints.last()).state.recoveries.rollbacks, 10);
}

TEST(NonFiniteTest, AValidationLossThatIsNotFiniteStopsTheRun) {
  config::Config config = config_with(OnNonFinite::kStop);
  config.training.epochs = 1;
  const auto session = make_exact_session(config, equal_rows(4, 1), equal_rows(2, 1));
  Traces traces(config);
  fit(*session, traces.output());
  session->config.training.epochs = 2;
  // On the CPU both are the same memory.
  session->validation->targets.fill_(kInfinity);
  for (float& value : session->data.validation.values) value = kInfinity;
  const Error error = error_of([&] { fit(*session, traces.output()); });
  EXPECT_EQ(error.kind(), ErrorKind::kNonFinite);
  EXPECT_EQ(error.what(), "step 4 (epoch 2): the validation loss is inf; " +
                              (kAdvice + traces.output().checkpoints.last().string()));
  EXPECT_EQ(
      timeless_lines(traces.metrics()).back(),
      R"({"step":4,"epoch":2,"split":"validation","loss":null,"mae":null,"rmse":null,"mape":null,"r2":null,"non_finite":{"loss":"inf","mae":"inf","rmse":"inf","mape":"nan","r2":"nan"}})");
}

TEST(NonFiniteTest, AValidationLossThatIsNotFiniteIsNeverTheBest) {
  const auto session =
      make_exact_session(config_with(OnNonFinite::kSkip), equal_rows(4, 1), equal_rows(2, 1));
  // On the CPU both are the same memory.
  session->validation->targets.fill_(kInfinity);
  for (float& value : session->data.validation.values) value = kInfinity;
  Traces traces(session->config);
  EXPECT_EQ(fit(*session, traces.output()), 0);
  EXPECT_FALSE(session->state.best.has_value());
  EXPECT_EQ(session->state.epochs_without_improvement, 2);
  EXPECT_FALSE(std::filesystem::exists(traces.output().checkpoints.best()));
}

}  // namespace
}  // namespace trainer::train
