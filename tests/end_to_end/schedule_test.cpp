// SPDX-License-Identifier: Apache-2.0
// `trainer config schedule`.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/process.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

// 80 training, 10 validation and 10 test rows.
test::ProcessResult schedule(const std::string& arguments,
                             const std::string& environment = "LC_ALL=C") {
  const test::TemporaryFolder folder;
  return test::trainer_in(
      folder.path(), "config schedule data.synthetic.num_samples=100 " + arguments, environment);
}

TEST(ScheduleTest, PrintsStepsRatesAndTheirCurve) {
  const test::ProcessResult result = schedule(
      "--epochs 2 --lr 0.4 training.gradient_accumulation_steps=2 training.batch_size=8 "
      "training.schedule.name=linear training.schedule.warmup_epochs=0.4 "
      "training.schedule.final_factor=0.5");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            R"(rows             80 training, 10 validation, 10 test
effective batch  16 rows: 2 batches of 8
steps            5 per epoch; 10 in 2 epochs
warm-up          2 steps
schedule         linear, peak learning rate 0.4

epoch  first step  last step  learning rate  at the end
    1           1          1      2.000e-01   2.000e-01
    1           2          2      4.000e-01   4.000e-01
    1           3          3      4.000e-01   4.000e-01
    1           4          4      3.750e-01   3.750e-01
    1           5          5      3.500e-01   3.500e-01
    2           6          6      3.250e-01   3.250e-01
    2           7          7      3.000e-01   3.000e-01
    2           8          8      2.750e-01   2.750e-01
    2           9          9      2.500e-01   2.500e-01
    2          10         10      2.250e-01   2.250e-01

 4.00e-01 |      ############::::::
          |      ########################::::::
          |      ####################################::::::
          |      ################################################::::::
          |############################################################
          |############################################################
          |############################################################
          |############################################################
        0 +------------------------------------------------------------
           1                                                    step 10
)");
}

TEST(ScheduleTest, SaysWhenStepReducesTheRate) {
  const test::ProcessResult result =
      schedule("training.schedule.name=step training.schedule.step_epochs=4");
  EXPECT_NE(result.out.find("reductions       by a factor of 0.1: after epoch 4, 8\n"),
            std::string::npos)
      << result.out;
  const test::ProcessResult never = schedule("training.schedule.name=step --epochs 10");
  EXPECT_NE(never.out.find(
                "reductions       by a factor of 0.1: none; the run ends before the first one\n"),
            std::string::npos)
      << never.out;
}

TEST(ScheduleTest, SaysThatAPlateauDependsOnTheMetric) {
  const test::ProcessResult result =
      schedule("training.schedule.name=reduce_on_plateau training.schedule.patience=2");
  EXPECT_NE(
      result.out.find(
          "reductions       by a factor of 0.1, depending on the validation loss; the rates below "
          "do not include reductions. If it never improved: after epoch 4, 7\n"),
      std::string::npos)
      << result.out;
}

TEST(ScheduleTest, LongRunsFitOnAPage) {
  const test::ProcessResult result = schedule("--epochs 100000", "LC_ALL=C.UTF-8");
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 34) << result.out;
  EXPECT_NE(result.out.find("█"), std::string::npos);
}

TEST(ScheduleTest, AsJson) {
  const test::ProcessResult result = schedule(
      "--json --epochs 3 --lr 0.5 training.schedule.name=reduce_on_plateau "
      "training.schedule.patience=0 data.validation_fraction=0");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = parse_json(result.out);
  EXPECT_EQ(json["rows"]["train"], 90);
  EXPECT_EQ(json["rows"]["validation"], 0);
  EXPECT_EQ(json["effective_batch"], 32);
  EXPECT_EQ(json["steps_per_epoch"], 3);
  EXPECT_EQ(json["total_steps"], 9);
  EXPECT_EQ(json["warmup_steps"], 0);
  EXPECT_EQ(json["schedule"], "reduce_on_plateau");
  EXPECT_EQ(json["follows"], "training loss");
  EXPECT_EQ(json["first_reductions_after_steps"], Json::array({6}));
  ASSERT_EQ(json["learning_rates"].size(), 3U);
  EXPECT_EQ(
      json["learning_rates"][2],
      parse_json(R"({"epoch": 3, "first_step": 7, "last_step": 9, "first": 0.5, "last": 0.5})"));
}

TEST(ScheduleTest, NeedsAConfigurationAndItsData) {
  const test::TemporaryFolder folder;
  const test::ProcessResult none = test::trainer_in(folder.path(), "config schedule");
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.err,
            "error: config schedule: expected a configuration, got nothing; try trainer config "
            "schedule --config configs/train.yaml\n");
  const test::ProcessResult missing = test::trainer_in(
      folder.path(), "config schedule data.source=csv data.path=no.csv data.target=y");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.out, "");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));  // nothing is made
}

}  // namespace
}  // namespace trainer
