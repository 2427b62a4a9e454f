// SPDX-License-Identifier: Apache-2.0
// `trainer explain`: what a model depends on.
#include <cmath>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/numbers.h"
#include "support/program_test.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;

class ExplainTest : public test::ProgramTest {
 protected:
  void train(const std::string& arguments) {
    const ProcessResult result = trainer("-q threads=1 " + arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  /// y is 2 x + 10, and `noise` and the category tell nothing.
  void train_on_one_column() {
    std::string csv = "x,noise,k,y\n";
    for (int i = 0; i < 400; ++i) {
      const double x = std::round(100 * test::mixed(i));
      csv +=
          fmt::format("{},{:.3f},{},{}\n", x, test::mixed(7 * i + 3), "abc"[i * 7 % 3], 2 * x + 10);
    }
    folder_.write("t.csv", csv);
    train(
        "data.source=csv data.path=t.csv data.target=y --epochs 60 --lr 0.02 "
        "data.test_fraction=0.25");
  }

  Json explain(const std::string& arguments) {
    const ProcessResult result = trainer("explain runs/latest --json " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.out);
  }

  /// The message of a refusal with this exit code, which prints nothing else.
  std::string refusal(const std::string& arguments, int exit_code) {
    const ProcessResult result = trainer("explain " + arguments);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    return test::replaced(result.err, folder_.path().string() + "/", "");
  }
};

TEST_F(ExplainTest, TheColumnThatCountsIsFirst) {
  train_on_one_column();
  const Json found = explain("--metric rmse");
  EXPECT_EQ(found["split"], "test");
  EXPECT_EQ(found["rows"], 100);
  EXPECT_EQ(found["rows_available"], 100);
  EXPECT_EQ(found["metric"], "rmse");
  EXPECT_EQ(found["repeats"], 5);
  EXPECT_EQ(found["seed"], 42);
  EXPECT_LT(found["score"], found["baseline"]);
  ASSERT_EQ(found["columns"].size(), 3U);
  EXPECT_EQ(found["columns"][0]["column"], "x");
  EXPECT_EQ(found["columns"][0]["within_noise"], false);
  EXPECT_GT(found["columns"][0]["importance"].get<double>(),
            20 * found["columns"][1]["importance"].get<double>());
  EXPECT_EQ(found["score"], summary()["test"]["rmse"]);
  const Json& effect = found["partial_dependence"]["columns"][0];
  EXPECT_EQ(effect["column"], "x");
  ASSERT_EQ(effect["points"].size(), 11U);
  for (const Json& point : effect["points"]) {
    EXPECT_NEAR(point["means"][0].get<double>(), 2 * point["value"].get<double>() + 10, 12);
  }
}

TEST_F(ExplainTest, IsTheSameForAnyNumberOfThreadsAndChangesWithTheSeed) {
  train(test::with_config("penguins.yaml") + "--epochs 3");
  const Json one = explain("threads=1");
  EXPECT_EQ(explain("threads=2"), one);
  EXPECT_NE(explain("--seed 7")["columns"], one["columns"]);
  EXPECT_EQ(explain("--seed 7")["seed"], 7);
  EXPECT_EQ(explain("--row 20 threads=1"), explain("--row 20 threads=2"));
}

TEST_F(ExplainTest, ComputesInBf16IfAskedFor) {
  train_on_one_column();
  const auto score = [&](const char* arguments) {
    return explain(arguments)["score"].get<double>();
  };
  const double fp32 = score("--metric rmse");
  const double bf16 = score("--metric rmse --precision bf16");
  EXPECT_NE(bf16, fp32);
  EXPECT_NEAR(bf16, fp32, 0.1 * fp32);
}

TEST_F(ExplainTest, PrintsTablesWithBars) {
  train_on_one_column();
  const ProcessResult result = trainer("explain runs/latest --top 1 --rows 50 --repeats 3");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part :
       {"\ndata        the test split of the run: 50 rows chosen from 100 (--rows)\n",
        "\nmetric      loss 0.0", " (smaller is better), without any column ",
        "\nimportance  how much the loss rises when the cells of a column are shuffled\n",
        "\n            mean and standard deviation of 3 shuffles, seed 42\n",
        "  ####################\n", "within the noise\n",
        "\nmean prediction if all rows had the same \"x\":\n"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << '\n' << result.out;
  }
  const ProcessResult column = trainer("explain runs/latest --column k --column noise");
  EXPECT_NE(column.out.find("the same \"k\":\nk     rows"), std::string::npos) << column.out;
  EXPECT_NE(column.out.find("the same \"noise\":\n"), std::string::npos) << column.out;
  EXPECT_EQ(column.out.find("the same \"x\":\n"), std::string::npos) << column.out;
}

TEST_F(ExplainTest, APredictionIsExplainedByItsLine) {
  train_on_one_column();
  const Json own = explain("--row 30");
  EXPECT_TRUE(own["row"].get<std::string>().starts_with("line 30 of "));
  const Json& output = own["outputs"][0];
  double sum = 0;
  for (const Json& column : output["contributions"]) sum += column["contribution"].get<double>();
  EXPECT_TRUE(output["adds_up"].get<bool>());
  EXPECT_NEAR(sum, output["at_row"].get<double>() - output["at_baseline"].get<double>(), 0.2);
  // The same row in a file of its own, without its target.
  const std::string line = test::lines_of(test::read_file(path("t.csv")))[29];
  folder_.write("one.csv", "x,noise,k\n" + line.substr(0, line.rfind(',')) + "\n");
  Json other = explain("--data one.csv --row 2");
  EXPECT_EQ(other["row"], "line 2 of one.csv");
  EXPECT_EQ(other["outputs"], own["outputs"]);
  const ProcessResult text = trainer("explain runs/latest --row 30");
  for (const char* part :
       {"\nprediction  ", "\nbaseline    each number is at its mean in the ",
        " training split, each category unknown\n", "\nexplained   y: ", "\nsum         ",
        "\ncolumn  value  contribution\n", "  ####################\n"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << '\n' << text.out;
  }
}

TEST_F(ExplainTest, EnsemblesOfSeveralRecipesAreExplained) {
  const ProcessResult trained =
      trainer("-q ensemble threads=1 " + test::with_config("penguins.yaml") +
              "--members 2 --recipes realmlp,tabm --epochs 2 --output-dir e");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const ProcessResult result = trainer("explain --json --row 9 --set threads=1 e/latest");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json found = parse_json(result.out);
  EXPECT_TRUE(found["outputs"][0]["adds_up"].get<bool>()) << found;
  EXPECT_EQ(trainer("explain --set threads=1 e/latest --top 1").exit_code, 0);
}

TEST_F(ExplainTest, ArraysAreExplainedByTheirFeatures) {
  train("--epochs 3");  // synthetic
  const Json found = explain("--top 1");
  EXPECT_EQ(found["columns"].size(), 10U);
  EXPECT_TRUE(found["columns"][0]["column"].get<std::string>().starts_with("feature_"));
  EXPECT_TRUE(
      explain("--row 3")["row"].get<std::string>().starts_with("row 3 of the data of the run ("));
}

TEST_F(ExplainTest, MistakesOfTheCommandLineAreNamed) {
  EXPECT_EQ(refusal("", 2),
            "error: explain: expected a run folder or a checkpoint file, got nothing, and the "
            "folder runs has no run; name one\n");
  EXPECT_EQ(refusal("r --metric speed", 2),
            "error: --metric: expected loss, log_loss, calibrated_log_loss, accuracy, "
            "balanced_accuracy, f1, binary_f1, auroc, pr_auc, mae, rmse, mape or r2, got "
            "\"speed\"\n");
  EXPECT_EQ(refusal("r --repeats 0", 2), "error: --repeats: expected an integer >= 1, got \"0\"\n");
  EXPECT_EQ(refusal("r --row 3 --metric loss --top 2", 2),
            "error: --metric: has no effect with --row\n"
            "--top: has no effect with --row\n");
  EXPECT_EQ(refusal("r --column a --top 2", 2),
            "error: --top: conflicts with --column; remove one of them\n");
  EXPECT_EQ(refusal("r --targets y.npy", 2), "error: --targets requires --data FILE\n");
  EXPECT_EQ(refusal("r --epochs 3", 2),
            "error: --epochs: training.epochs: explain always uses the run's saved configuration; "
            "remove this override\n");
  EXPECT_EQ(refusal("r", 7), "error: r: no such checkpoint; there are no checkpoints in .\n");
  fs::create_directory(path("empty"));
  EXPECT_EQ(refusal("empty", 7),
            "error: empty: no such checkpoint; there are no checkpoints in empty\n");
}

TEST_F(ExplainTest, MistakesInTheDataAreNamed) {
  train_on_one_column();
  EXPECT_EQ(
      refusal("runs/latest --column nois", 2),
      "error: --column: runs/latest/checkpoints/best.pt has no feature \"nois\"; did you mean "
      "\"noise\"?\n");
  EXPECT_EQ(refusal("runs/latest --column price", 2),
            "error: --column: runs/latest/checkpoints/best.pt has no feature \"price\"; `trainer "
            "inspect` lists the columns\n");
  EXPECT_EQ(refusal("runs/latest --metric auroc", 2),
            "error: --metric: auroc is not defined for regression; use loss\n");
  EXPECT_EQ(refusal("runs/latest --row 1", 2),
            "error: --row: expected a line of t.csv at which a row begins, from 2 to 401, got 1\n");
  folder_.write("new.csv", "x,noise,k\n1,2,a\n3,4,b\n");
  EXPECT_EQ(refusal("runs/latest --data new.csv", 3),
            "error: new.csv:1: expected the columns of the training data; missing from the header: "
            "\"y\"\n");
  EXPECT_EQ(refusal("runs/latest --data new.csv --row 9", 2),
            "error: --row: expected a line of new.csv at which a row begins, from 2 to 3, got 9\n");
  folder_.write("less.csv", "noise,k,y\n2,a,3\n");
  EXPECT_EQ(
      refusal("runs/latest --data less.csv", 3),
      "error: less.csv:1: expected the columns of the training data; missing from the header: "
      "\"x\"\n");
  EXPECT_EQ(refusal("runs/latest --data none.csv", 3), "error: none.csv: no such file\n");
}

}  // namespace
}  // namespace trainer
