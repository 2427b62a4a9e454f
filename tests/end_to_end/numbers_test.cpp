// SPDX-License-Identifier: Apache-2.0
// Numbers that are large, wild or too good, as a user meets them.
#include "support/numbers.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/process.h"
#include "support/program_test.h"
#include "support/temporary_folder.h"

namespace trainer {
namespace {

using test::mixed;

class NumbersTest : public test::ProgramTest {
 protected:
  /// A table of 1,000 rows and a configuration for it, "name.yaml".
  void table(const std::string& name, const std::string& header,
             const std::function<std::string(int)>& row) {
    std::string text = header + "\n";
    for (int i = 0; i < 1000; ++i) text += row(i) + "\n";
    folder_.write(name + ".csv", text);
    folder_.write(name + ".yaml",
                  fmt::format("tag: {0}\ndata: {{source: csv, path: {0}.csv, target: "
                              "y}}\n"
                              "model: {{hidden_sizes: [32, 32]}}\n"
                              "training: {{epochs: 60, batch_size: 32, "
                              "learning_rate: 0.01, schedule: {{name: cosine}}}}\n"
                              "device: cpu\nthreads: 1\n",
                              name));
  }
  /// The result of a run in runs/latest.
  test::ProcessResult train(const std::string& name, const std::string& more = "") {
    test::ProcessResult result = trainer("--config " + name + ".yaml " + more);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result;
  }
  Json eval(const std::string& arguments) {
    const test::ProcessResult result = trainer("eval --json " + arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.out);
  }
  /// The lines that `trainer predict` writes for a table, but the first.
  std::vector<std::string> predictions(const std::string& data) {
    const test::ProcessResult result = trainer("predict runs/latest --output - --data " + data);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::vector<std::string> lines = test::lines_of(result.out);
    lines.erase(lines.begin());
    return lines;
  }
};

double wave(int i) { return std::sin(10 * mixed(i)); }

TEST_F(NumbersTest, SecondsSince1970AreLearntAsWellAsSecondsSinceToday) {
  table("small", "t,y",
        [](int i) { return fmt::format("{:.6f},{:.6f}", 100 * mixed(i), wave(i)); });
  table("large", "t,y",
        [](int i) { return fmt::format("{:.6f},{:.6f}", 1.7e9 + 100 * mixed(i), wave(i)); });
  train("small");
  const Json small = summary()["test"];
  train("large");
  const Json large = summary()["test"];
  EXPECT_GT(small["r2"], 0.99);
  EXPECT_GT(large["r2"], 0.99);
  EXPECT_NEAR(large["rmse"].get<double>(), small["rmse"].get<double>(), 0.02);

  // As the whole file, so in pieces, and again after a resume.
  EXPECT_GT(eval("runs/latest --data large.csv")["r2"], 0.99);
  EXPECT_NEAR(eval("runs/latest")["loss"].get<double>(), large["loss"].get<double>(), 1e-6);
  EXPECT_EQ(trainer("--resume runs/latest --epochs 61").exit_code, 0);
  const test::ProcessResult inspected = trainer("inspect runs/latest");
  EXPECT_NE(inspected.out.find("\"t\": numeric, minus offset 17000000"), std::string::npos)
      << inspected.out;
  EXPECT_EQ(trainer("verify runs/latest").exit_code, 0);
}

TEST_F(NumbersTest, DatesWrittenAsNumbersAreLearnt) {
  table("dates", "t,y", [](int i) {
    const int day = static_cast<int>(28 * mixed(i));
    return fmt::format("{},{:.6f}", 20231101 + day, std::sin(day / 3.0));
  });
  train("dates");
  EXPECT_GT(summary()["test"]["r2"], 0.99);
}

TEST_F(NumbersTest, TargetsWithALargeOffsetAreLearntAndPredictedToTheDigit) {
  table("y", "t,y",
        [](int i) { return fmt::format("{:.6f},{:.9f}", 100 * mixed(i), 1e9 + wave(i)); });
  train("y");
  const Json scores = summary()["test"];
  EXPECT_GT(scores["r2"], 0.99);
  EXPECT_LT(scores["mae"], 0.1);
  const std::vector<std::string> texts = predictions("y.csv");
  ASSERT_EQ(texts.size(), 1000U);
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string& text = texts[static_cast<std::size_t>(i)];
    worst = std::max(worst, std::abs(std::stod(text) - 1e9 - wave(i)));
    EXPECT_EQ(text.find('e'), std::string::npos) << text;
  }
  EXPECT_LT(worst, 0.5);
}

TEST_F(NumbersTest, OneWildCellIsNamedAndMayBeClipped) {
  table("wild", "t,y",
        [](int i) { return fmt::format("{},{:.6f}", i == 98 ? 1e6 : 100 * mixed(i), wave(i)); });
  const std::string warning =
      "column \"t\": 1000000 is 26,934 deviations from the median 49.918; all others are from 0 "
      "to ";
  const test::ProcessResult warned = train("wild", "--epochs 1");
  EXPECT_NE(warned.err.find(":100: " + warning), std::string::npos) << warned.err;
  const test::ProcessResult started = trainer("init --data wild.csv --target y --output init.yaml");
  // The recipe scales by quartiles and limits what is far away.
  EXPECT_EQ(started.err.find(warning), std::string::npos) << started.err;
  const test::ProcessResult robust = trainer("--config init.yaml");
  EXPECT_EQ(robust.exit_code, 0) << robust.err;
  EXPECT_GT(parse_json(trainer("eval runs/latest --json").out)["r2"], 0.99);

  train("wild", "data.outliers=clip");
  EXPECT_GT(summary()["test"]["r2"], 0.99);
  folder_.write("new.csv", "t\n100\n200\n1e6\n1e9\n");
  const std::vector<std::string> limited = predictions("new.csv");
  EXPECT_NE(limited[0], limited[1]);
  EXPECT_EQ(limited[2], limited[3]);
}

TEST_F(NumbersTest, WhatIsTooGoodIsNamedOnce) {
  const auto predicted_class = [](int i) { return mixed(3 * i) < 0.5 ? "yes" : "no"; };
  table("leak", "t,told,y", [&](int i) {
    return fmt::format("{},{},{}", mixed(i), *predicted_class(i) == 'y' ? 1 : 0,
                       predicted_class(i));
  });
  const test::ProcessResult result = train("leak", "--epochs 5");
  const std::string note =
      "warning: copies of the target (leakage): \"told\"; use data.ignore to drop columns that are "
      "not "
      "known before the target\n";
  EXPECT_NE(result.err.find(note), std::string::npos) << result.err;
  const std::string question =
      "warning: validation accuracy is 100 % after epoch 1: possible target leakage; drop columns "
      "that copy "
      "the target or are only known after it with data.ignore\n";
  const std::size_t at = result.err.find(question);
  EXPECT_NE(at, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("validation accuracy is", at + question.size()), std::string::npos);
  EXPECT_NE(trainer("init --data leak.csv --target y --output init.yaml").err.find(note),
            std::string::npos);
  EXPECT_NE(test::read_file(folder_.path() / "init.yaml")
                .find("  # Warning: copies of the target (leakage): \"told\"; use data.ignore to"),
            std::string::npos);

  // Once for all runs of a series, and in the log and the report of each.
  for (const char* series : {"cv --folds 3", "ensemble --members 2"}) {
    const test::ProcessResult several =
        trainer(std::string(series) +
                " threads=1 data.source=csv data.path=leak.csv data.target=y --epochs 2");
    EXPECT_EQ(several.exit_code, 0) << several.err;
    const std::size_t first = several.err.find(note);
    EXPECT_NE(first, std::string::npos) << several.err;
    EXPECT_EQ(several.err.find(note, first + 1), std::string::npos) << several.err;
  }
  EXPECT_EQ(trainer("report -o report.html runs/latest").exit_code, 0);
  EXPECT_NE(test::read_file(folder_.path() / "report.html")
                .find("\"warnings\":[\"copies of the target (leakage): \\\"told\\\""),
            std::string::npos);

  // A column that only helps.
  table("fine", "t,told,y", [&](int i) {
    return fmt::format("{},{},{}", mixed(i), i % 20 == 0 || *predicted_class(i) == 'y' ? 1 : 0,
                       predicted_class(i));
  });
  const test::ProcessResult fine = train("fine", "--epochs 5");
  EXPECT_EQ(fine.err.find("copies of the target"), std::string::npos);
  EXPECT_EQ(fine.err.find("possible target leakage"), std::string::npos);
}

TEST_F(NumbersTest, TheLossOfTheSameRowsIsTheSameWithBalancedClasses) {
  table("rare", "a,y", [](int i) {
    return fmt::format("{},{}", mixed(i), mixed(7 * i) + 0.3 * mixed(i) > 0.9 ? "rare" : "common");
  });
  std::string rows = "a,y\n";
  for (int i = 0; i < 300; ++i) {
    rows += fmt::format("{},{}\n", mixed(3 * i), mixed(5 * i) > 0.8 ? "rare" : "common");
  }
  folder_.write("rows.csv", rows);
  train("rare", "--epochs 3 data.class_weights=balanced data.test_path=rows.csv");
  const double loss = summary()["test"]["loss"].get<double>();
  EXPECT_NEAR(eval("runs/latest")["loss"].get<double>(), loss, 1e-6);
  EXPECT_NEAR(eval("runs/latest --data rows.csv")["loss"].get<double>(), loss, 1e-6);
}

}  // namespace
}  // namespace trainer
