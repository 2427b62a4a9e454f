// SPDX-License-Identifier: Apache-2.0
// What the program says of a trained model.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/process.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::kSource;

class EvalTest : public ::testing::Test {
 protected:
  /// A short run in runs/latest.
  void train(const std::string& config, const std::string& more = "") {
    const test::ProcessResult result =
        trainer("--config " + (kSource / "configs" / config).string() + " --epochs 5 " + more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  test::ProcessResult trainer(const std::string& arguments) {
    return test::trainer_in(folder_.path(), arguments);
  }
  json summary() const {
    return json::parse(test::read_file(folder_.path() / "runs" / "latest" / "summary.json"));
  }
  json eval(const std::string& more = "") {
    const test::ProcessResult result = trainer("eval runs/latest --json " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return json::parse(result.out);
  }
  /// The message of a refusal with exit code 3.
  std::string refusal(const std::string& content) {
    folder_.write("bad.csv", content);
    const test::ProcessResult result = trainer("eval runs/latest --data bad.csv");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.out, "");
    return result.err;
  }

  test::TemporaryFolder folder_;
};

TEST_F(EvalTest, TheRunsOwnTestPartGivesTheNumbersOfTheRun) {
  for (const char* more : {"", "training.loss=cross_entropy training.label_smoothing=0.1"}) {
    train("penguins.yaml", more);
    const json result = eval();
    const json expected = summary()["test"];
    EXPECT_NEAR(result["loss"].get<double>(), expected["loss"].get<double>(), 1e-6);
    for (const char* name : {"rows", "accuracy", "f1", "auroc", "classes", "confusion_matrix"}) {
      EXPECT_EQ(result[name], expected[name]) << name;
    }
  }
}

TEST_F(EvalTest, ARegressionIsJudgedInTheUnitsOfTheFile) {
  train("auto_mpg.yaml", "training.loss=huber");
  const json result = eval();
  const json expected = summary()["test"];
  for (const char* name : {"loss", "mae", "rmse", "r2"}) {
    EXPECT_NEAR(result[name].get<double>(), expected[name].get<double>(), 1e-6) << name;
  }
}

TEST_F(EvalTest, AFileIsJudgedByThePredictionsOnIt) {
  train("penguins.yaml");
  const fs::path data = kSource / "configs" / "data" / "penguins.csv";
  const json result = eval("--data " + data.string());
  const test::ProcessResult predicted = trainer("predict runs/latest --data " + data.string());
  std::ifstream labelled(data);
  std::istringstream predictions(predicted.out);
  std::string row, prediction;
  std::getline(labelled, row);
  std::getline(predictions, prediction);
  int right = 0, num_rows = 0;
  while (std::getline(labelled, row) && std::getline(predictions, prediction)) {
    const std::string label = prediction.substr(0, prediction.find(','));
    right += row.starts_with(label + ",") ? 1 : 0;
    ++num_rows;
  }
  EXPECT_EQ(num_rows, 344);
  EXPECT_EQ(result["rows"], num_rows);
  EXPECT_EQ(result["accuracy"].get<double>(), static_cast<double>(right) / num_rows);
}

TEST_F(EvalTest, ATextIsForPeople) {
  train("penguins.yaml");
  const test::ProcessResult result = trainer("eval runs/latest");
  EXPECT_TRUE(
      result.out.starts_with("model       runs/latest/checkpoints/best.pt (epoch 5)\n"
                             "data        the test part of the run: 34 rows\n"
                             "result      accuracy "))
      << result.out;
  EXPECT_NE(result.out.find("\ntrue \\ predicted  Adelie  Chinstrap  Gentoo\n"), std::string::npos)
      << result.out;
}

TEST_F(EvalTest, NamesWhatIsWrongWithAFile) {
  folder_.write("t.csv", "a,y\n1,p\n2,q\n3,p\n4,q\n5,p\n6,q\n7,p\n8,q\n");
  const test::ProcessResult trained = trainer(
      "data.source=csv data.path=t.csv data.target=y data.validation_fraction=0.25 --epochs 1 "
      "data.test_fraction=0 --batch-size 2 -q");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_EQ(refusal("a;y\n1;p\n"),
            "error: bad.csv:1: the delimiter comma gives just one column, \"a;y\"; did you "
            "mean --delimiter semicolon?\n");
  EXPECT_EQ(refusal("a,z\n1,p\n"),
            "error: bad.csv:1: expected the columns of the training data, but \"y\" is not in the "
            "header\n");
  EXPECT_EQ(refusal("a,y\n"), "error: bad.csv: no rows after the header\n");
  EXPECT_EQ(refusal("a,y\n1,p\n1,\n"),
            "error: bad.csv:3: column \"y\": expected a value to predict, got an empty field; fill "
            "it in or remove the row\n");
  const std::string label = refusal("a,y\n1,p\n1,r\n");
  EXPECT_TRUE(
      label.starts_with("error: bad.csv:3: column \"y\": the label \"r\" does not occur in "
                        "the training data "))
      << label;
  EXPECT_EQ(
      refusal("a,y\n1,p\nx,q\n"),
      "error: bad.csv:3: column \"a\": expected a number, got \"x\"; correct it, as the column "
      "was numeric in the training data\n");
  // There is no test part: the validation part is judged.
  EXPECT_EQ(eval()["data"], "the validation part of the run");
  folder_.write("t.csv", "a,y\n1,p\n2,q\n");
  const test::ProcessResult changed = trainer("eval runs/latest");
  EXPECT_EQ(changed.exit_code, 3);
  EXPECT_NE(changed.err.find("the data files of the run are not what they were: expected 36 bytes "
                             "with CRC-32 "),
            std::string::npos)
      << changed.err;
}

TEST_F(EvalTest, RefusesAFileForAModelOfNoTable) {
  ASSERT_EQ(
      trainer("--config " + (kSource / "configs" / "synthetic.yaml").string() + " --epochs 1 -q")
          .exit_code,
      0);
  folder_.write("bad.csv", "a,y\n1,2\n");
  const test::ProcessResult result = trainer("eval runs/latest --data bad.csv");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "error: bad.csv: the model was not trained on a table, so that there are no columns to "
            "be found in it; leave --data out to evaluate the run's own test part\n");
}

}  // namespace
}  // namespace trainer
