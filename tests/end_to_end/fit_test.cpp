// SPDX-License-Identifier: Apache-2.0
// `trainer fit`: from a table to a model and a report.
#include <signal.h>

#include <filesystem>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/comes_true.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/running_program.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;

class FitTest : public test::ProgramTest {
 protected:
  FitTest() { fs::copy(test::kSource / "configs/data/penguins.csv", folder_.path()); }

  ProcessResult fit(const std::string& arguments) const {
    return trainer("fit penguins.csv " + arguments);
  }
};

TEST_F(FitTest, MakesAModelAReportAndAConfiguration) {
  const ProcessResult result = fit("--target species members=3 --epochs 4 --json");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json json = parse_json(result.out);
  const fs::path run = fs::canonical(folder_.path() / "runs/latest");
  EXPECT_EQ(json["folder"], run.string());
  EXPECT_EQ(json["report"], (run / "report.html").string());
  EXPECT_EQ(json["configuration"], "penguins.yaml");
  EXPECT_TRUE(fs::exists(run / "report.html"));
  EXPECT_TRUE(fs::exists(folder_.path() / "penguins.yaml"));
  EXPECT_GT(json["accuracy"].get<double>(), json["baseline"]["accuracy"].get<double>());
  EXPECT_EQ(json["rows"], 344);
  EXPECT_EQ(json["important"][0], "beak_length_mm");
  EXPECT_NE(result.err.find("training 5 models takes about "), std::string::npos) << result.err;
  // The model is the newest run, and its configuration repeats it.
  EXPECT_NE(trainer("predict penguins.csv").out.find("p_Gentoo\nAdelie,"), std::string::npos);
  const ProcessResult again = trainer("--config penguins.yaml members=3 --epochs 4 --json");
  EXPECT_EQ(parse_json(again.out)["out_of_fold"]["log_loss"], json["log_loss"]) << again.err;
}

// A search that Ctrl-C ends is a model, and can go on.
TEST_F(FitTest, SearchesWhereTheTimeIsEnoughForMuchMore) {
  test::RunningProgram program(folder_.path(), "fit penguins.csv --target species --time 10h",
                               test::Moments::kPassed);
  EXPECT_TRUE(test::comes_true([&] { return fs::exists(path("runs/latest/ensemble.json")); }));
  program.send(SIGINT);
  const ProcessResult result = program.finish();
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_NE(result.err.find("; resume with: trainer search --resume "), std::string::npos)
      << result.err;
  EXPECT_EQ(trainer("predict penguins.csv -o p.csv").exit_code, 0);
}

TEST_F(FitTest, SaysHowGoodTheModelIsAndWhatCanBeDoneWithIt) {
  const ProcessResult result = fit("--target body_mass_g members=2 --epochs 3");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"metric  out of fold  baseline\n", "\nRMSE ", "\nimportant   \"",
                           "(2 members)\n", "\nreport      runs/", "/report.html\n",
                           "\nsettings    penguins.yaml\n", "\n  trainer predict new.csv  "}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << '\n' << result.out;
  }
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

/// Prices that rise from day to day by a random walk, so that neighbors in time tell a price.
std::string rising_prices() {
  std::string text = "day,size,price\n";
  double level = 0;
  for (int i = 0; i < 400; ++i) {
    level += (i * 7919 % 101) / 100.0;
    text += fmt::format("{:04}-{:02}-{:02},{},{:.2f}\n", 2020 + i / 336, 1 + i / 28 % 12,
                        1 + i % 28, i * 37 % 97, level + i * 37 % 97 / 100.0);
  }
  return text;
}

TEST_F(FitTest, OfATableWithDatesAModelIsTestedOnLaterRowsToo) {
  folder_.write("prices.csv", rising_prices());
  const ProcessResult result = trainer("fit prices.csv --target price members=2 --epochs 3");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("training 5 models takes about "), std::string::npos) << result.err;
  EXPECT_NE(
      result.out.find("\nlater rows  trained on four fifths of the rows and tested on the last "
                      "by day: MAE "),
      std::string::npos)
      << result.out;
  const ProcessResult json =
      trainer("fit prices.csv --target price members=2 --epochs 32 --force --json");
  const Json found = parse_json(json.out);
  EXPECT_GT(found["later_rows"]["rmse"], found["rmse"]) << json.out;
}

TEST_F(FitTest, WhatItNeedsIsSaidBeforeAnythingIsTrained) {
  const auto error_of = [&](const std::string& arguments, const std::string& before = "") {
    const ProcessResult result = test::trainer_in(folder_.path(), "fit " + arguments, before);
    EXPECT_EQ(result.exit_code, 2) << arguments;
    return result.err;
  };
  EXPECT_EQ(error_of(""), "error: fit: expected --data FILE.csv, got nothing\n");
  EXPECT_EQ(error_of("penguins.csv"),
            "error: fit: expected --target COLUMN, got nothing; likely targets: \"species\" or "
            "\"sex\"\n");
  EXPECT_EQ(
      error_of("penguins.csv --target species data.folds=3 recipe=plain members=1"),
      "error: data.folds: fit chooses it; change it in the file of `trainer init` and train "
      "with `trainer --config FILE`\n"
      "recipe: fit chooses it; change it in the file of `trainer init` and train with "
      "`trainer --config FILE`\n"
      "members: fit trains at least two models; use `trainer init` and `trainer --config FILE`"
      "\n");
  EXPECT_EQ(error_of("penguins.csv --target species --config a.yaml --resume r"),
            "error: --resume is not supported by fit\n"
            "--config is not supported by fit; --output names the new configuration\n");
  EXPECT_EQ(error_of("penguins.csv --target species -o -"),
            "error: --output: expected a file, got standard output\n");
  EXPECT_EQ(error_of("penguins.csv --target species",
                     "RANK=0 WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=29500"),
            "error: fit runs as one process; use trainer init, and then trainer "
            "--config FILE with the launcher\n");
  folder_.write("penguins.yaml", "");
  EXPECT_EQ(error_of("penguins.csv --target species"),
            "error: --output: penguins.yaml already exists; choose another name, or overwrite it "
            "with --force\n");
  EXPECT_FALSE(fs::exists(folder_.path() / "runs"));
}

}  // namespace
}  // namespace trainer
