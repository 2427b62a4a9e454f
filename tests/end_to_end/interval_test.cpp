// SPDX-License-Identifier: Apache-2.0
// Intervals and sets of classes: predict --interval, and how they are exported.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/error_of.h"
#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"

namespace trainer {
namespace {

using test::ProcessResult;

/// Rows of y = x + noise, evenly distributed between -10 and 10, and z = the noise.
std::string noisy_table(int num_rows, int first) {
  std::string text = "x,y,z\n";
  for (int i = first; i < first + num_rows; ++i) {
    const double x = (i * 37 % 1009) / 10.0;
    const double noise = (i * 7919 % 2003) / 100.15 - 10;
    text += fmt::format("{},{:.3f},{:.3f}\n", x, x + noise, noise);
  }
  return text;
}

/// Rows of three classes, each of which is the likeliest for a third of x.
std::string class_table(int num_rows, int first) {
  std::string text = "x,y\n";
  for (int i = first; i < first + num_rows; ++i) {
    const double x = (i * 37 % 1009) / 10.0;
    const double shifted = x + (i * 7919 % 2003) / 40.0 - 25;
    text += fmt::format("{},{}\n", x, shifted < 33 ? "low" : shifted < 66 ? "mid" : "high");
  }
  return text;
}

class IntervalTest : public test::ProgramTest {
 protected:
  void train(const std::string& table, const std::string& arguments) {
    folder_.write("t.csv", table);
    const ProcessResult result =
        trainer(arguments +
                " data.source=csv data.path=t.csv training.epochs=20 threads=1 "
                "data.validation_fraction=0.4 data.test_fraction=0.1 training.batch_size=32");
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  std::vector<std::vector<std::string>> predict(const std::string& arguments) {
    result_ = trainer("predict new.csv " + arguments);
    EXPECT_EQ(result_.exit_code, 0) << result_.err;
    return test::cells_of(result_.out);
  }

  std::string error(const std::string& arguments) const {
    const ProcessResult result = trainer(arguments);
    EXPECT_NE(result.exit_code, 0);
    return result.err.substr(std::min(result.err.size(), result.err.find("error: ")));
  }

  ProcessResult result_;
};

TEST_F(IntervalTest, NineOfTenTargetsOfNewRowsAreInTheirIntervals) {
  train(noisy_table(1000, 0), "data.target=y data.ignore=z");
  folder_.write("new.csv", noisy_table(1000, 1000));
  const auto truth = test::cells_of(test::read_file(path("new.csv")));
  const auto rows = predict("--interval 0.9");
  EXPECT_EQ(rows[0], (std::vector<std::string>{"prediction", "lower", "upper"}));
  EXPECT_NE(result_.err.find("intervals that contain the target in 90 % of 400 rows that the model "
                             "was not trained on: the prediction ± "),
            std::string::npos)
      << result_.err;
  int num_covered = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const double lower = std::stod(rows[i][1]);
    const double upper = std::stod(rows[i][2]);
    const double y = std::stod(truth[i][1]);
    num_covered += static_cast<int>(lower <= y && y <= upper);
    EXPECT_NEAR(std::stod(rows[i][0]), (lower + upper) / 2, 1e-3);
    EXPECT_NEAR(upper - lower, std::stod(rows[1][2]) - std::stod(rows[1][1]), 1e-3);
  }
  EXPECT_GT(num_covered, 850);  // five deviations of 900 hits, of those of 400 rows too
  EXPECT_LT(num_covered, 950);
}

// The distance has the rank 361 of 400 rows.
TEST_F(IntervalTest, TheDistanceIsTheRankedErrorOfRowsThatTheModelHasNotSeen) {
  folder_.write("new.csv", noisy_table(400, 500));
  folder_.write("t.csv", noisy_table(400, 0));
  const ProcessResult trained = trainer(
      "data.source=csv data.path=t.csv data.target=y data.ignore=z data.validation_path=new.csv "
      "training.epochs=20 threads=1 training.batch_size=32");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const auto truth = test::cells_of(test::read_file(path("new.csv")));
  const auto rows = predict("--interval 0.9");
  std::vector<double> errors;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    errors.push_back(std::abs(std::stod(rows[i][0]) - std::stod(truth[i][1])));
  }
  std::sort(errors.begin(), errors.end());
  ASSERT_EQ(errors.size(), 400U);
  EXPECT_NEAR(std::stod(rows[1][2]) - std::stod(rows[1][0]), errors[360], 1e-3);
}

TEST_F(IntervalTest, EachTargetHasItsOwnInterval) {
  train(noisy_table(400, 0), "'data.target=[y, z]'");
  folder_.write("new.csv", noisy_table(2, 500));
  EXPECT_EQ(predict("--interval 0.8")[0],
            (std::vector<std::string>{"prediction_y", "prediction_z", "lower_y", "upper_y",
                                      "lower_z", "upper_z"}));
}

TEST_F(IntervalTest, SetsHaveTheClassThatIsPredictedAndGrowWithTheCoverage) {
  train(class_table(1000, 0), "data.target=y");
  folder_.write("new.csv", class_table(1000, 1000));
  const auto truth = test::cells_of(test::read_file(path("new.csv")));
  std::size_t size_before = 0;
  for (const double coverage : {0.5, 0.9, 0.99}) {
    const auto rows = predict(fmt::format("--interval {}", coverage));
    ASSERT_EQ(rows[0].back(), "set");
    std::size_t size = 0;
    int num_covered = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      const std::vector<std::string> set = test::split(rows[i].back(), '|');
      EXPECT_NE(std::find(set.begin(), set.end(), rows[i][0]), set.end());
      num_covered += static_cast<int>(std::find(set.begin(), set.end(), truth[i][1]) != set.end());
      size += set.size();
    }
    EXPECT_GT(num_covered, 1000 * coverage - 50);
    EXPECT_GT(size, size_before);
    size_before = size;
  }
}

TEST_F(IntervalTest, WhatCannotBeAnIntervalIsRefused) {
  for (const char* value : {"0", "1", "90%", "-0.5", "nan"}) {
    EXPECT_EQ(
        error(fmt::format("predict x --data y.csv --interval {}", value)),
        fmt::format("error: --interval: expected a number between 0 and 1, got \"{}\"\n", value));
  }
  train(class_table(200, 0), "data.target=y");
  folder_.write("new.csv", class_table(2, 0));
  const std::string model = "runs/" + test::file_names(path("runs")).front();
  EXPECT_EQ(test::replaced(error("predict new.csv --interval 0.99"), model, "RUN"),
            "error: --interval: RUN/checkpoints/best.pt: expected at least 99 validation rows that "
            "the model was not trained on, as 0.99 needs, got 80; choose a smaller number, or "
            "train with a larger validation split or an ensemble\n");
  EXPECT_EQ(
      error("export -o m.onnx --interval 0.9"),
      "error: --interval: a set of classes is chosen by their probabilities, got outputs that "
      "are logits; add --softmax\n");
}

TEST_F(IntervalTest, ClassesWithTheSeparatorOfSetsAreRefused) {
  std::string table = class_table(200, 0);
  for (std::size_t at = 0; (at = table.find("mid", at)) != std::string::npos;) {
    table.replace(at, 3, "a|b");
  }
  train(table, "data.target=y");
  folder_.write("new.csv", class_table(2, 0));
  EXPECT_EQ(error("predict new.csv --interval 0.5 -o out.csv"),
            "error: --interval: the class \"a|b\" contains |, which separates the classes of a "
            "set; rename it in the data\n");
  EXPECT_EQ(predict("")[0].size(), 4U);
}

TEST_F(IntervalTest, ExportsHaveTheIntervalsToo) {
  train(noisy_table(400, 0), "'data.target=[y, z]'");
  const ProcessResult script = trainer("export -o m.pt --interval 0.9");
  EXPECT_EQ(script.exit_code, 0) << script.err;
  EXPECT_NE(script.out.find("output      predictions: float32 [batch, 2]\n"
                            "            lower: float32 [batch, 2]\n"
                            "            upper: float32 [batch, 2]\n"),
            std::string::npos)
      << script.out;
  ASSERT_EQ(trainer("export -o m.safetensors --interval 0.9").exit_code, 0);
  const std::string content = test::read_file(path("m.safetensors"));
  EXPECT_NE(content.find(R"("interval":"{\"coverage\":0.9,\"rows\":160,\"distances\":[)"),
            std::string::npos);
  train(class_table(400, 0), "data.target=y");
  const ProcessResult sets = trainer("export -o m.pt --softmax --interval 0.9");
  EXPECT_EQ(sets.exit_code, 0) << sets.err;
  EXPECT_NE(sets.out.find("            set: bool [batch, 3]\n"), std::string::npos) << sets.out;
}

}  // namespace
}  // namespace trainer
