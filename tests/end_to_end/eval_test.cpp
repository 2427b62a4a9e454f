// SPDX-License-Identifier: Apache-2.0
// What the program says of a trained model.
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"

#include "support/files.h"
#include "support/idx.h"
#include "support/npy.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::idx_file;
using test::kSource;
using test::last_line;
using test::ProcessResult;

class EvalTest : public test::ProgramTest {
 protected:
  /// A short run in runs/latest.
  void train(const std::string& config, const std::string& more = "") {
    const test::ProcessResult result =
        trainer(test::with_config(config) + "training.epochs=5 " + more);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }
  Json eval(const std::string& more = "") {
    const test::ProcessResult result = trainer("eval runs/latest --json " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.out);
  }
  /// The message of a refusal with exit code 3.
  std::string refusal(const std::string& content) {
    folder_.write("bad.csv", content);
    const test::ProcessResult result = trainer("eval runs/latest --data bad.csv");
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.out, "");
    return result.err;
  }
};

TEST_F(EvalTest, TheRunsOwnTestPartGivesTheNumbersOfTheRun) {
  for (const char* more : {"", "training.loss=cross_entropy training.label_smoothing=0.1"}) {
    train("penguins.yaml", more);
    const Json result = eval();
    const Json expected = summary()["test"];
    EXPECT_NEAR(result["loss"].get<double>(), expected["loss"].get<double>(), 1e-6);
    for (const char* name : {"rows", "accuracy", "f1", "auroc", "classes", "confusion_matrix"}) {
      EXPECT_EQ(result[name], expected[name]) << name;
    }
  }
}

TEST_F(EvalTest, WithoutANameTheNewestRunIsMeantAndSaid) {
  train("penguins.yaml");
  train("penguins.yaml", "seed=7");
  const std::string name = fs::read_symlink(folder_.path() / "runs/latest").filename().string();
  const std::string newest = "the newest run: runs/" + name + "\n";
  for (const char* command :
       {"eval", "inspect", "explain", "report", "export --output model.safetensors"}) {
    const ProcessResult result = trainer(command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.err.find(newest), std::string::npos) << command << ": " << result.err;
  }
  EXPECT_EQ(trainer("eval --json").out, trainer("eval --json " + name).out);
}

TEST_F(EvalTest, ATableNeedsNoFlag) {
  train("penguins.yaml");
  const std::string table = (kSource / "configs/data/penguins.csv").string();
  const std::string run = fs::read_symlink(folder_.path() / "runs/latest").filename().string();
  for (const std::string command : {"predict ", "eval --json "}) {
    const ProcessResult expected = trainer(command + run + " --data " + table);
    EXPECT_EQ(expected.exit_code, 0) << expected.err;
    EXPECT_EQ(trainer(command + table).out, expected.out);
    EXPECT_EQ(trainer(command + run + " " + table + " threads=1").out, expected.out);
  }
}

// Label smoothing makes a network less sure than it is right.
TEST_F(EvalTest, CalibratedProbabilitiesAreThoseOfEveryCommand) {
  const std::string smooth = "training.label_smoothing=0.2 training.epochs=15 seed=3 ";
  train("penguins.yaml", smooth);
  const Json raw = eval();
  train("penguins.yaml", smooth + "training.calibrate=true");
  const Json result = eval();
  const Json expected = summary()["test"];
  for (const char* name : {"accuracy", "log_loss", "brier", "ece"}) {
    EXPECT_EQ(result[name], expected[name]) << name;
  }
  EXPECT_EQ(result["accuracy"], raw["accuracy"]);
  EXPECT_LT(result["log_loss"], raw["log_loss"]);
  EXPECT_LT(result["ece"], raw["ece"]);
  const std::string records = test::read_file(folder_.path() / "runs/latest/metrics.jsonl");
  EXPECT_NE(records.find("\"calibrated_log_loss\":"), std::string::npos);
  const ProcessResult inspected = trainer("inspect runs/latest");
  EXPECT_NE(inspected.out.find("\ncalibrated  logits divided by the temperature 0."),
            std::string::npos)
      << inspected.out;
  const ProcessResult exported = trainer("export runs/latest -o m.pt --softmax");
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
}

// The temperature divides the logarithms of the mean probabilities.
TEST_F(EvalTest, AMeanOfMembersIsCalibratedInEveryCommand) {
  train("penguins.yaml",
        "training.label_smoothing=0.2 training.epochs=15 training.calibrate=true "
        "model.ensemble_size=4 ");
  const Json result = eval();
  const Json expected = summary()["test"];
  for (const char* name : {"accuracy", "log_loss", "brier", "ece"}) {
    EXPECT_EQ(result[name], expected[name]) << name;
  }
  const ProcessResult inspected = trainer("inspect runs/latest");
  EXPECT_NE(inspected.out.find("\ncalibrated  logits divided by the temperature 0."),
            std::string::npos)
      << inspected.out;
  for (const char* file : {"m.pt", "m.safetensors"}) {
    const ProcessResult exported = trainer(fmt::format("export runs/latest -o {}", file));
    EXPECT_EQ(exported.exit_code, 0) << exported.err;
  }
}

TEST_F(EvalTest, ARunCanBeSelectedByItsCalibratedLogLoss) {
  train("penguins.yaml", "training.calibrate=true training.best_metric=calibrated_log_loss ");
  const Json summary_of_run = summary();
  EXPECT_EQ(summary_of_run["best"]["metric"], "calibrated_log_loss");
  EXPECT_NEAR(summary_of_run["best"]["value"].get<double>(),
              summary_of_run["validation"]["log_loss"].get<double>(), 1e-6);
}

TEST_F(EvalTest, ARegressionIsJudgedInTheUnitsOfTheFile) {
  train("auto_mpg.yaml", "training.loss=huber");
  const Json result = eval();
  const Json expected = summary()["test"];
  for (const char* name : {"loss", "mae", "rmse", "r2"}) {
    EXPECT_NEAR(result[name].get<double>(), expected[name].get<double>(), 1e-6) << name;
  }
}

TEST_F(EvalTest, AFileWithoutWeightsIsEvaluatedWithAllRowsAlike) {
  std::string bare = "x,y\n";
  std::string weighted = "x,y,w\n";
  for (int row = 0; row < 60; ++row) {
    const std::string cells = std::to_string(row % 7) + "," + std::to_string(row % 5);
    bare += cells + "\n";
    weighted += cells + "," + std::to_string(row % 2) + "\n";
  }
  std::string alike = weighted;
  for (std::size_t at = 0; (at = alike.find(",0\n", at)) != std::string::npos;) alike[at + 1] = '1';
  folder_.write("weighted.csv", weighted);
  folder_.write("bare.csv", bare);
  folder_.write("alike.csv", alike);
  folder_.write("c.yaml",
                "data: {source: csv, path: weighted.csv, target: y, weight: w, task: regression}\n"
                "training: {epochs: 3}\n");
  ASSERT_EQ(trainer("--config c.yaml").exit_code, 0);

  const test::ProcessResult result = trainer("eval runs/latest --json --data bare.csv");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err,
            "warning: bare.csv has no column \"w\" (data.weight); all rows have the same weight in "
            "the loss\n");
  Json expected = eval("--data alike.csv");
  Json without = parse_json(result.out);
  EXPECT_EQ(without["loss"], expected["loss"]);
  EXPECT_NE(without["loss"], eval("--data weighted.csv")["loss"]);
}

TEST_F(EvalTest, AFileIsJudgedByThePredictionsOnIt) {
  train("penguins.yaml");
  const fs::path data = kSource / "configs" / "data" / "penguins.csv";
  const Json result = eval("--data " + data.string());
  const test::ProcessResult predicted = trainer("predict runs/latest --data " + data.string());
  const auto rows = test::cells_of(test::read_file(data));
  const auto predictions = test::cells_of(predicted.out);
  ASSERT_EQ(predictions.size(), rows.size());
  int right = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) right += predictions[i][0] == rows[i][0] ? 1 : 0;
  const auto num_rows = static_cast<int>(rows.size()) - 1;
  EXPECT_EQ(num_rows, 344);
  EXPECT_EQ(result["rows"], num_rows);
  EXPECT_EQ(result["accuracy"].get<double>(), static_cast<double>(right) / num_rows);
}

TEST_F(EvalTest, ATextIsForPeople) {
  train("penguins.yaml");
  const test::ProcessResult result = trainer("eval runs/latest");
  EXPECT_TRUE(
      result.out.starts_with("model       runs/latest/checkpoints/best.pt (epoch 5)\n"
                             "data        the test split of the run: 34 rows\n"
                             "\nmetric              result  baseline\naccuracy  "))
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
            "error: bad.csv:1: with the delimiter comma there is only one column, \"a;y\"; did you "
            "mean --delimiter semicolon?\n");
  EXPECT_EQ(refusal("a,z\n1,p\n"),
            "error: bad.csv:1: expected the columns of the training data; missing from the header: "
            "\"y\"\n");
  EXPECT_EQ(refusal("a,y\n"), "error: bad.csv: no data rows after the header\n");
  EXPECT_EQ(refusal("a,y\n1,p\n1,\n"),
            "error: bad.csv:3: column \"y\": expected a target, got an empty field; fill it in or "
            "remove the row\n");
  const std::string label = refusal("a,y\n1,p\n1,r\n");
  EXPECT_TRUE(
      label.starts_with("error: bad.csv:3: column \"y\": the label \"r\" does not occur in "
                        "the training data "))
      << label;
  EXPECT_EQ(refusal("a,y\n1,p\nx,q\n"),
            "error: bad.csv:3: column \"a\": expected a number, got \"x\"; correct it: the column "
            "was numeric in the training data\n");
  // There is no test split: the validation split is evaluated.
  EXPECT_EQ(eval()["split"], "validation");
  EXPECT_EQ(eval()["data"], nullptr);
  folder_.write("t.csv", "a,y\n1,p\n2,q\n");
  const test::ProcessResult changed = trainer("eval runs/latest");
  EXPECT_EQ(changed.exit_code, 3);
  EXPECT_NE(changed.err.find("the data files of the run have changed: expected 36 bytes "
                             "with CRC-32 "),
            std::string::npos)
      << changed.err;
}

TEST_F(EvalTest, TheRowsThatTheModelWasTrainedOnAreAWarning) {
  train("penguins.yaml", "-q");
  const std::string table = (test::kSource / "configs/data/penguins.csv").string();
  fs::copy(table, folder_.path() / "copy.csv");
  const test::ProcessResult own = trainer("eval runs/latest --data copy.csv");
  EXPECT_EQ(own.exit_code, 0);
  EXPECT_EQ(
      own.err,
      "warning: copy.csv is the data of the run: the model was trained on most of these rows, "
      "so the metrics say little about others; without --data, rows that it has not seen are "
      "taken\n");
  std::ofstream(folder_.path() / "copy.csv", std::ios::app) << "\n";
  EXPECT_EQ(trainer("eval runs/latest --data copy.csv").err, "");
  // A file of its own that serves as the test split is there to be evaluated.
  fs::copy(table, folder_.path() / "test.csv");
  fs::resize_file(folder_.path() / "test.csv", fs::file_size(table) - 1);
  train("penguins.yaml", "-q data.test_path=" + (folder_.path() / "test.csv").string());
  EXPECT_EQ(trainer("eval runs/latest --data test.csv").err, "");
}

TEST_F(EvalTest, ARequirementThatDoesNotHoldIsExitCode10) {
  train("penguins.yaml");
  const ProcessResult good =
      trainer("eval --json --require 'accuracy>0.9 and (log_loss<0.5 or f1>0.99)'");
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_EQ(parse_json(good.out)["requirement_met"], true);

  const ProcessResult bad = trainer("eval --json --require 'accuracy>1 or not ece>=0'");
  EXPECT_EQ(bad.exit_code, 10);
  const Json result = parse_json(bad.out);
  EXPECT_EQ(result["requirement_met"], false);
  EXPECT_EQ(last_line(bad.err),
            fmt::format("error: --require: expected accuracy>1 or not ece>=0, got accuracy {} and "
                        "ece {}",
                        shortest(result["accuracy"].get<double>()),
                        shortest(result["ece"].get<double>())));
  EXPECT_FALSE(parse_json(trainer("eval --json").out).contains("requirement_met"));
}

TEST_F(EvalTest, AnUndefinedMetricMeetsNoRequirement) {
  train("auto_mpg.yaml");
  std::istringstream lines(test::read_file(kSource / "configs/data/auto_mpg.csv"));
  std::string header;
  std::string row;
  std::getline(lines, header);
  std::getline(lines, row);
  folder_.write("one.csv", header + "\n" + row + "\n");
  const ProcessResult result = trainer("eval one.csv --require 'not r2<0.5'");
  EXPECT_EQ(result.exit_code, 10);
  EXPECT_EQ(last_line(result.err), "error: --require: expected not r2<0.5, got r2 undefined");
}

TEST_F(EvalTest, ARequirementThatCannotBeUnderstoodIsRefused) {
  train("penguins.yaml");
  const auto refused = [&](const std::string& requirement) {
    const ProcessResult result = trainer("eval --require '" + requirement + "'");
    EXPECT_EQ(result.exit_code, 2) << requirement;
    EXPECT_EQ(result.out, "") << requirement;
    return last_line(result.err);
  };
  EXPECT_EQ(refused("acuracy>0.9"),
            "error: --require: expected a metric, got \"acuracy\"; did you mean \"accuracy\"?");
  EXPECT_EQ(refused("accuracy>"), "error: --require \"accuracy>\": expected a value at the end");
  EXPECT_EQ(refused("accuracy>high"),
            "error: --require: accuracy: expected a number, got \"high\"");
  EXPECT_TRUE(refused("mae<1").starts_with(
      "error: --require: expected a metric of these rows, loss, accuracy, "))
      << refused("mae<1");
}

TEST_F(EvalTest, TheBaselineStandsBesideTheScores) {
  train("penguins.yaml", "-q");
  const Json own = eval();
  EXPECT_EQ(own["baseline"], summary()["test"]["baseline"]);
  EXPECT_NEAR(own["baseline"]["accuracy"].get<double>(), 15.0 / 34, 1e-12);
  EXPECT_EQ(own["baseline"]["auroc"], 0.5);
  const test::ProcessResult text = trainer("eval runs/latest");
  for (const char* part : {"\nmetric ", "result  baseline\n", "%   44.12 %\n", "   20.41 %\n",
                           "\nbaseline: always \"Adelie\"\n"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part << text.out;
  }
  EXPECT_EQ(text.out.find("does not beat"), std::string::npos) << text.out;
  // A model that has learned nothing.
  const test::ProcessResult bad =
      trainer(test::with_config("penguins.yaml") + " --epochs 1 --lr 1e-6 --seed 1");
  EXPECT_NE(bad.out.find("\nthe model does not beat the baseline in accuracy and log loss\n"),
            std::string::npos)
      << bad.out << bad.err;
}

/// 60 images of 2 x 2 pixels; the label says which half is bright.
struct Images {
  std::string pixels, labels;
  explicit Images(int seed) {
    for (int i = 0; i < 60; ++i) {
      const int label = (i * 7 + seed) % 2;
      labels += static_cast<char>(label);
      for (int pixel = 0; pixel < 4; ++pixel) {
        pixels += static_cast<char>((pixel / 2 == label ? 150 : 20) + (i * 31 + pixel * 17) % 90);
      }
    }
  }
};

std::string npy(const std::string& shape, const std::string& bytes) {
  return test::npy_file(test::npy_header("|u1", shape), bytes);
}

std::string csv(const Images& images, const char* names, const char* target) {
  std::string text = std::string(names) + "," + target + "\n";
  for (std::size_t i = 0; i < images.labels.size(); ++i) {
    for (std::size_t pixel = 0; pixel < 4; ++pixel) {
      text += std::to_string(static_cast<unsigned char>(images.pixels[4 * i + pixel])) + ",";
    }
    text += std::to_string(images.labels[i]) + "\n";
  }
  return text;
}

class EvalArraysTest : public EvalTest {
 protected:
  /// Evaluates data that must give what the run's own test split does.
  void expect_own(const std::string& more) {
    Json own = eval();
    Json other = eval(more);
    EXPECT_EQ(own["split"], "test");
    EXPECT_EQ(other["split"].is_null(), more.find("--data") != std::string::npos) << more;
    for (Json* result : {&own, &other}) {
      result->erase("data");
      result->erase("split");
    }
    EXPECT_EQ(own, other) << more;
  }
  std::string problem(const std::string& more, int exit_code) {
    const test::ProcessResult result = trainer("eval runs/latest " + more);
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.out, "");
    return result.err;
  }
};

TEST_F(EvalArraysTest, ImagesAreEvaluatedAsTheyAreTrainedOn) {
  const Images train_images(0);
  const Images test_images(1);
  folder_.write("a", idx_file({60, 2, 2}, train_images.pixels));
  folder_.write("b", idx_file({60}, train_images.labels));
  folder_.write("images", idx_file({60, 2, 2}, test_images.pixels));
  folder_.write("labels", idx_file({60}, test_images.labels));
  ASSERT_EQ(trainer("-q data.source=idx data.idx.train_images=a data.idx.train_labels=b "
                    "data.idx.test_images=images data.idx.test_labels=labels --epochs 2")
                .exit_code,
            0);
  expect_own("--data images --labels labels");
  ASSERT_EQ(
      test::run_process("cd " + folder_.path().string() + " && gzip -k images labels").exit_code,
      0);
  expect_own("--data images.gz --targets labels.gz");
  folder_.write("x.npy", npy("(60, 2, 2)", test_images.pixels));
  folder_.write("y.npy", npy("(60,)", test_images.labels));
  expect_own("--data x.npy --targets y.npy");
  folder_.write("pixels.csv", csv(test_images, "pixel_0_0,pixel_0_1,pixel_1_0,pixel_1_1", "label"));
  expect_own("--data pixels.csv");
  EXPECT_EQ(problem("--data images", 2),
            "error: --targets: expected a file with the targets of images, got nothing\n");
  EXPECT_EQ(problem("--data pixels.csv --targets labels", 2),
            "error: --targets: only for IDX images and NumPy arrays; the targets of a table are in "
            "pixels.csv itself\n");
  EXPECT_EQ(problem("--labels labels", 2), "error: --targets requires --data FILE\n");
  folder_.write("small.npy", npy("(60, 2)", test_images.pixels.substr(0, 120)));
  EXPECT_EQ(problem("--data small.npy --targets y.npy", 3),
            "error: small.npy: expected 4 features per row as in the training data, got 2\n");
}

TEST_F(EvalArraysTest, ArraysOfNumPyAreEvaluatedAndPredictedAsTheyAreTrainedOn) {
  const Images train_images(0);
  const Images test_images(1);
  folder_.write("a.npy", npy("(60, 4)", train_images.pixels));
  folder_.write("b.npy", npy("(60,)", train_images.labels));
  folder_.write("x.npy", npy("(60, 4)", test_images.pixels));
  folder_.write("y.npy", npy("(60,)", test_images.labels));
  ASSERT_EQ(trainer("-q data.source=npy data.npy.features=a.npy data.npy.targets=b.npy "
                    "data.npy.test_features=x.npy data.npy.test_targets=y.npy --epochs 2")
                .exit_code,
            0);
  expect_own("--data x.npy --targets y.npy");
  folder_.write("x.csv", csv(test_images, "x0,x1,x2,x3", "y"));
  expect_own("--data x.csv");
  const std::string of_array = trainer("predict runs/latest --data x.npy").out;
  EXPECT_TRUE(of_array.starts_with("prediction,p_0,p_1\n")) << of_array;
  EXPECT_EQ(of_array, trainer("predict runs/latest --data x.csv").out);
}

// Bytes as numbers of 8 bytes (little-endian), the first column of four moved by `offset`.
std::string doubles(const std::string& bytes, double offset) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double number = static_cast<unsigned char>(bytes[i]) + (i % 4 == 0 ? offset : 0);
    text.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }
  return text;
}

TEST_F(EvalArraysTest, NumbersOfEveryWidthAreReadLessTheOffsetsOfTheModel) {
  const Images images(0);
  const double offset = 1e9;
  const auto number_array = [](const std::string& content) {
    std::string array = npy("(60, 4)", content);
    return array.replace(array.find("|u1"), 3, "<f8");
  };
  folder_.write("a.npy", number_array(doubles(images.pixels, offset)));
  folder_.write("b.npy", npy("(60,)", images.labels));
  ASSERT_EQ(trainer("-q data.source=npy data.npy.features=a.npy data.npy.targets=b.npy --epochs 2")
                .exit_code,
            0);
  EXPECT_NE(trainer("inspect runs/latest --json").out.find("\"offset\""), std::string::npos);
  expect_own("");

  // What a model with an offset says of bytes does not depend on how they are stored.
  folder_.write("bytes.npy", npy("(60, 4)", images.pixels));
  folder_.write("images", idx_file({60, 2, 2}, images.pixels));
  folder_.write("labels", idx_file({60}, images.labels));
  folder_.write("numbers.npy", number_array(doubles(images.pixels, 0)));
  const std::string expected = trainer("predict runs/latest --data numbers.npy").out;
  EXPECT_NE(expected, trainer("predict runs/latest --data a.npy").out);
  EXPECT_EQ(expected, trainer("predict runs/latest --data bytes.npy").out);
  EXPECT_EQ(expected, trainer("predict runs/latest --data images").out);
  EXPECT_EQ(eval("--data numbers.npy --targets b.npy")["loss"],
            eval("--data images --targets labels")["loss"]);
}

// One row in six is a yes, and hardly any is more likely a yes than a no.
std::string rare_table() {
  std::string text = "x,y\n";
  for (int i = 0; i < 600; ++i) {
    const int x = i * 37 % 100;
    text += std::to_string(x) + (i * 7919 % 100 < x / 3 ? ",yes\n" : ",no\n");
  }
  return text;
}

TEST_F(EvalTest, AThresholdDecidesBetweenTwoClasses) {
  folder_.write("rare.csv", rare_table());
  const std::string train =
      "data.source=csv data.path=rare.csv data.target=y training.epochs=20 "
      "data.validation_fraction=0.3 ";
  ASSERT_EQ(trainer(train).exit_code, 0);
  const Json half = eval();
  EXPECT_EQ(half["threshold"], 0.5);
  const Json best = eval("--threshold auto:binary_f1");
  EXPECT_LT(best["threshold"], 0.5);
  EXPECT_GT(best["binary_f1"], half["binary_f1"]);
  EXPECT_EQ(best["auroc"], half["auroc"]);
  EXPECT_EQ(best["log_loss"], half["log_loss"]);
  const std::string threshold = best["threshold"].dump();
  EXPECT_EQ(eval("--threshold " + threshold)["binary_f1"], best["binary_f1"]);
  const ProcessResult text = trainer("eval runs/latest --threshold auto:binary_f1");
  EXPECT_NE(text.out.find("\nthreshold   0."), std::string::npos) << text.out;
  EXPECT_NE(text.out.find(" % on the validation split)\n"), std::string::npos) << text.out;

  const auto num_yes = [&](const std::string& more) {
    const ProcessResult result = trainer("predict runs/latest --data rare.csv " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    int count = 0;
    for (const std::string& line : test::lines_of(result.out)) count += line.starts_with("yes,");
    return count;
  };
  EXPECT_GT(num_yes("--threshold " + threshold), num_yes(""));
  EXPECT_EQ(num_yes("--threshold auto:binary_f1"), num_yes("--threshold " + threshold));

  // Each member of an ensemble on its own validation fold.
  ASSERT_EQ(trainer("ensemble --members 2 " + train).exit_code, 0);
  EXPECT_LT(eval("--threshold auto:binary_f1")["threshold"], 0.5);
}

TEST_F(EvalTest, AThresholdIsANumberOrAMetricOfTwoClasses) {
  for (const char* value : {"0", "1", "half", "auto:auroc", "auto:"}) {
    const ProcessResult result = trainer(std::string("eval x --threshold ") + value);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err,
              "error: --threshold: expected a number between 0 and 1, or auto: with "
              "accuracy, balanced_accuracy, f1 or binary_f1, got \"" +
                  std::string(value) + "\"\n");
  }
  train("penguins.yaml");
  const ProcessResult three = trainer("eval runs/latest --threshold 0.3");
  EXPECT_EQ(three.exit_code, 2);
  EXPECT_NE(three.err.find(" is not a model of two classes; remove this option\n"),
            std::string::npos)
      << three.err;
}

}  // namespace
}  // namespace trainer
