// SPDX-License-Identifier: Apache-2.0
// Devices that fail, run out of memory or compute wrong numbers.
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/train/fit.h"
#include "trainer/train/out_of_memory.h"
#include "trainer/train/trials.h"

#include "simulated_device/memory.h"
#include "simulated_device/state.h"
#include "support/error_of.h"
#include "support/sessions.h"
#include "support/trained.h"

namespace trainer::test::simulated {
namespace {

const char* const kFailure = "MPS: command buffer exited with error status: Internal Error";

/// Each test begins with a healthy device.
class DeviceFailureTest : public testing::Test {
 protected:
  void SetUp() override { state().behaviour = {}; }
  void TearDown() override { state().behaviour = {}; }

  static Behaviour& behaviour() { return state().behaviour; }
  static config::Config autograd_config() {
    config::Config config = small_config();
    config.training.step = config::StepKind::kAutograd;
    return config;
  }
  static data::Datasets data_of(const config::Config& config) {
    return data::load_datasets(config.data, static_cast<uint64_t>(config.seed));
  }
  static std::unique_ptr<train::Session> session_on(c10::Device device,
                                                    const config::Config& config) {
    auto session = train::make_session(config, data_of(config), device);
    train::use_threads_within_memory(*session, 1);
    return session;
  }
  // Operators that the check of a device launches.
  static int64_t num_checked(const config::Config& config, const data::Datasets& data) {
    reset_counters();
    EXPECT_EQ(train::find_device_problem(config, data, the_device()), "");
    return counters().operators;
  }
};

TEST_F(DeviceFailureTest, AFailureOfAnyOperatorOfASmallStepIsFound) {
  const config::Config config = autograd_config();
  const data::Datasets data = data_of(config);
  const int64_t num_operators = num_checked(config, data);
  ASSERT_GT(num_operators, 30);
  for (int64_t n = 1; n <= num_operators; ++n) {
    behaviour().fail_in = n;
    EXPECT_EQ(train::find_device_problem(config, data, the_device()), kFailure) << n;
  }
}

TEST_F(DeviceFailureTest, ANaNThatReachesLossGradientOrWeightsIsFound) {
  const config::Config config = autograd_config();
  const data::Datasets data = data_of(config);
  const int64_t num_operators = num_checked(config, data);
  int64_t num_found = 0;
  for (int64_t n = 1; n <= num_operators; ++n) {
    behaviour().nan_in = n;
    num_found += train::find_device_problem(config, data, the_device()).empty() ? 0 : 1;
  }
  // Some results are of no matter: memory that is written later, what counts right predictions.
  EXPECT_GT(num_found, num_operators / 2);
}

TEST_F(DeviceFailureTest, LackOfMemoryIsNoProblemOfTheDevice) {
  const config::Config config = autograd_config();
  const data::Datasets data = data_of(config);
  behaviour().max_buffer_bytes = 100;
  EXPECT_EQ(train::find_device_problem(config, data, the_device()), "");
}

TEST_F(DeviceFailureTest, DataThatDoesNotFitGoesToTheCpuIfThatIsAsked) {
  config::Config config = autograd_config();
  config.training.on_out_of_memory = config::OnOutOfMemory::kFallbackCpu;
  const auto expected = session_on(c10::kCPU, config);
  const QuietLog quiet;
  reset_counters();
  const int64_t before = counters().bytes;
  for (int64_t bytes = 100; bytes < 8000; bytes += 700) {
    behaviour().max_bytes = before + bytes;
    const auto session = session_on(the_device(), config);
    behaviour().max_bytes = 0;
    if (!session->device.is_cpu()) break;
    EXPECT_TRUE(session->state.recoveries.has_fallen_back);
    EXPECT_TRUE(identical(session->model.parameters().values, expected->model.parameters().values));
    EXPECT_EQ(session->data.train.size(), expected->data.train.size());
    EXPECT_EQ(counters().bytes, before);
  }
}

// All that a run does within memory: steps, updates, evaluations, checkpoints.
TEST_F(DeviceFailureTest, ARunEndsWithTheSameWeightsWhereverMemoryRunsOut) {
  config::Config config = autograd_config();
  config.training.on_out_of_memory = config::OnOutOfMemory::kFallbackCpu;
  config.training.epochs = 2;
  config.training.ema_decay = 0.9;
  // Beside what the session has from the start; below 0: no limit.
  const auto fit_within = [&](int64_t bytes) {
    auto session = session_on(the_device(), config);
    behaviour().max_bytes = bytes < 0 ? 0 : counters().bytes + bytes;
    Traces traces(session->config);
    EXPECT_EQ(train::fit(*session, traces.output()), 0);
    train::evaluate_best(*session, traces.output());
    behaviour().max_bytes = 0;
    return session;
  };
  const auto expected = fit_within(-1);
  int64_t num_moved = 0;
  for (int64_t bytes = 0; bytes < 16'000; bytes += 512) {
    const auto session = fit_within(bytes);
    num_moved += session->device.is_cpu() ? 1 : 0;
    EXPECT_EQ(session->state.position, expected->state.position);
    EXPECT_TRUE(
        close(session->model.parameters().values, expected->model.parameters().values, 1e-5, 1e-3));
  }
  EXPECT_GT(num_moved, 0);
}

// In whichever operator, also in one of the update, which has changed some of the weights.
TEST_F(DeviceFailureTest, StepsTogetherSurviveLackOfMemoryInEveryOperator) {
  config::Config config = autograd_config();
  config.model.norm = config::Norm::kBatch;  // batches are not split, which would change the sums
  config.training.epochs = 1;
  const auto expected = session_on(the_device(), config);
  reset_counters();
  train_ahead(*expected, 1024);
  const int64_t num_operators = counters().operators;
  const QuietLog quiet;
  int64_t num_survived = 0;
  for (int64_t n = 1; n <= num_operators; n += 3) {
    const auto session = session_on(the_device(), config);
    behaviour().oom_in = n;
    try {
      train_ahead(*session, 1024);
      expect_same(*session, *expected);
      ++num_survived;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kOutOfMemory);  // of a step that ran by itself
    }
    behaviour().oom_in = 0;
  }
  EXPECT_GT(3 * num_survived, num_operators / 2);
}

TEST_F(DeviceFailureTest, AnUpdateThatRunsOutNamesTheWayOn) {
  config::Config config = autograd_config();
  const auto session = session_on(the_device(), config);
  reset_counters();
  train::advance(*session, train::run_step(*session));
  behaviour().oom_in = counters().operators - 2;  // of the second step, about the same
  const Error error = error_of([&] { train::run_step(*session); });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_STREQ(error.what(),
               "out of memory during the weight update; resume from the last checkpoint with a "
               "smaller training.batch_size or on another device");
}

TEST_F(DeviceFailureTest, ADeviceThatIsLostLeavesTheLastStateAndSaysHowToContinue) {
  config::Config config = autograd_config();
  config.training.epochs = 3;
  config.logging.save_interval = 2;
  const auto session = session_on(the_device(), config);
  Traces traces(session->config);
  behaviour().lose_in = 500;
  const Error error = error_of([&] { train::fit(*session, traces.output()); });
  behaviour() = {};
  EXPECT_EQ(error.kind(), ErrorKind::kDevice);
  const std::filesystem::path file = traces.checkpoints() / "last.pt";
  const checkpoint::Checkpoint saved = checkpoint::read(file);
  EXPECT_GT(saved.state.position.step, 0);
  const train::Session& s = *session;
  EXPECT_EQ(error.what(),
            fmt::format("step {} (epoch {}): {} has failed: {}; the state after step {} is in "
                        "{}; continue with trainer --resume {} --device cpu, or on the device "
                        "once it works again",
                        s.state.position.step + 1, s.state.position.epoch + 1, s.device.str(),
                        kFailure, saved.state.position.step, file.string(), file.string()));
  // What was saved is the state of a run that was not disturbed.
  const auto resumed = session_on(c10::kCPU, config);
  train::restore(*resumed, saved);
  train_ahead(*resumed, 1);
  const auto whole = session_on(c10::kCPU, config);
  train_ahead(*whole, 1);
  EXPECT_TRUE(identical(resumed->model.parameters().values, whole->model.parameters().values));
}

// In one operator after the other of a step and its evaluation. NaN of an update is in the weights
// before anybody looks, so the CPU gets NaN of them, too.
TEST_F(DeviceFailureTest, NaNThatTheCpuDoesNotGetIsAFaultOfTheDevice) {
  const config::Config config = autograd_config();  // a record a step
  int64_t num_found = 0;
  for (int64_t n = 200; n < 240; ++n) {
    const auto session = session_on(the_device(), config);
    Traces traces(session->config);
    behaviour().nan_in = n;
    try {
      train::fit(*session, traces.output());
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kDevice) continue;
      ++num_found;
      const std::string message = error.what();
      const int64_t step = session->state.position.step;
      EXPECT_TRUE(message.starts_with(
          fmt::format("step {} (epoch {}): {} computes wrong results: mean loss ", step + 1,
                      session->state.position.epoch + 1, session->device.str())))
          << message;
      EXPECT_NE(message.find(" with the same weights and rows; the state after step "),
                std::string::npos)
          << message;
      EXPECT_EQ(checkpoint::read(traces.checkpoints() / "last.pt").state.position.step, step);
    }
  }
  EXPECT_GT(num_found, 15);
}

TEST_F(DeviceFailureTest, TwoRunsOnADeviceAreEqual) {
  config::Config config = autograd_config();
  config.model.dropout = 0.2;
  config.model.norm = config::Norm::kBatch;
  const auto first = session_on(the_device(), config);
  const auto second = session_on(the_device(), config);
  train_ahead(*first, 1024);
  train_ahead(*second, 1024);
  expect_same(*first, *second);
}

}  // namespace
}  // namespace trainer::test::simulated
