// SPDX-License-Identifier: Apache-2.0
// `trainer init`: what it writes can be trained with.
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/philox.h"
#include "trainer/base/text/json.h"

#include "support/process.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::last_line;
using test::ProcessResult;

std::string table(const char* name) { return (test::kSource / "configs/data" / name).string(); }

// A table with names and texts that YAML would take for something else.
std::string odd_table() {
  std::string text =
      "\"na: me #1\";\"wert, %\";\"l#abel: \"\"x\"\"\";\"{kind}\";\"is\ntwo\";- ;[const];null\n";
  for (int row = 0; row < 80; ++row) {
    text += "\"row " + std::to_string(row) + ": #\";" + std::to_string(row % 17) + ".5;" +
            (row % 2 == 0 ? "\"yes: #\"" : "no") + ";" + (row % 3 == 0 ? "\"- x\"" : "'y") + ";" +
            std::to_string(row % 5) + ";;7;" + std::to_string(row % 11) + "\n";
  }
  return text;
}

TEST(InitTest, WritesAConfigurationThatTrains) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder.path() / "configs");
  for (const auto& [name, target] :
       {std::pair("penguins.csv", "species"), std::pair("auto_mpg.csv", "miles_per_gallon")}) {
    fs::copy(table(name), folder.path() / name);
    const ProcessResult made =
        test::trainer_in(folder.path(), std::string("init --data ") + name + " --target " + target +
                                            " --output configs/a.yaml --force");
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(made.out,
              "wrote configs/a.yaml\n\n  trainer config schedule --config configs/a.yaml\n"
              "  trainer --config configs/a.yaml\n");
    const ProcessResult trained =
        test::trainer_in(folder.path() / "configs", "--config a.yaml --epochs 3");
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
  }
}

TEST(InitTest, TheFileIsNamedAfterTheTableUnlessItExists) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder.path() / "data");
  fs::copy(table("penguins.csv"), folder.path() / "data/penguins.2026.csv");
  const std::string init = "init data/penguins.2026.csv --target species";
  const ProcessResult made = test::trainer_in(folder.path(), init);
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(made.out,
            "wrote penguins.yaml\n\n  trainer config schedule --config penguins.yaml\n"
            "  trainer --config penguins.yaml\n");
  EXPECT_TRUE(fs::exists(folder.path() / "penguins.yaml"));
  const ProcessResult again = test::trainer_in(folder.path(), init);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_EQ(again.err,
            "error: --output: penguins.yaml already exists; choose another name, or overwrite it "
            "with --force\n");
}

TEST(InitTest, TheFileSaysWhatWasFound) {
  const test::TemporaryFolder folder;
  fs::copy(table("auto_mpg.csv"), folder.path() / "auto_mpg.csv");
  const ProcessResult result = test::trainer_in(
      folder.path(), "init --data auto_mpg.csv --target miles_per_gallon --output - --time 100h");
  EXPECT_EQ(result.exit_code, 0);
  const std::string recipe = test::lines_of(result.err).at(2);
  EXPECT_EQ(
      result.err,
      std::string(
          "read 398 rows and 9 columns from auto_mpg.csv, delimiter comma\n"
          "dropping column \"name\": almost every text is different (304 distinct in 398 rows)\n") +
          recipe + "\n" + last_line(result.err) + "\n");
  EXPECT_TRUE(recipe.starts_with("recipe realmlp: training 5 models takes about ")) << recipe;
  EXPECT_TRUE(last_line(result.err).ends_with(", ten times as long, has some 6 % less error"));
  EXPECT_EQ(result.out,
            R"(# Written by `trainer init` from "auto_mpg.csv": 398 rows, 9 columns. Edit as needed.
#
#   trainer --config FILE.yaml
#   trainer search --config FILE.yaml --time 10m   (more accurate)
#
# All other keys have their defaults; `trainer config reference` lists them.

# RealMLP, a strong recipe for tables. It sets the defaults of other keys,
# which --print-config shows; each can be set below, such as training: {best_metric: mae}.
recipe: realmlp
members: 5  # models that learn from 4/5 of the rows each and predict together; 1 for a single one
member_recipes: [realmlp, tabm]  # which they take in turn

tag: auto_mpg  # suffix of the run folder names

data:
  source: csv
  path: auto_mpg.csv  # relative to the folder of this file
  # Numbers from 9 to 46.6.
  target: miles_per_gallon
  task: regression  # because it has non-integer values
  ignore:
    - name  # almost every text is different (304 distinct in 398 rows)
  # 9 features: 6 numeric columns, 1 categorical: "origin" (3).
  # Columns with missing values: "horsepower" (6); data.fill sets how numbers are imputed.
  # Integer columns with few distinct values; if they are categories and not quantities:
  # categorical: [cylinders]
  test_fraction: 0  # none: each row is predicted by the member that has not seen it

training:
  epochs: 32  # more take longer and are seldom better
)");
}

TEST(InitTest, TheRecipeHasToFitIntoTheTime) {
  const test::TemporaryFolder folder;
  fs::copy(table("auto_mpg.csv"), folder.path() / "auto_mpg.csv");
  const std::string init = "init --data auto_mpg.csv --target miles_per_gallon --output - --time ";
  const ProcessResult little = test::trainer_in(folder.path(), init + "0.0001s");
  EXPECT_EQ(little.exit_code, 0) << little.err;
  EXPECT_NE(
      little.out.find("\n  max_seconds: 0.0001  # not enough time for realmlp, of which an epoch "
                      "takes about "),
      std::string::npos)
      << little.out;
  EXPECT_EQ(little.out.find("\nrecipe:"), std::string::npos) << little.out;
  EXPECT_NE(little.out.find("--config FILE.yaml --time 10m   (more accurate)\n"), std::string::npos)
      << little.out;
  const ProcessResult wrong = test::trainer_in(folder.path(), init + "soon");
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_EQ(wrong.err, "error: --time: expected a time such as 60s, 10m or 2h, got \"soon\"\n");
}

TEST(InitTest, OddNamesAndDelimitersSurvive) {
  const test::TemporaryFolder folder;
  folder.write("my data/odd one.csv", odd_table());
  for (const char* target : {"'l#abel: \"x\"'", "'wert, %'", "null", "'is\ntwo'"}) {
    const ProcessResult made =
        test::trainer_in(folder.path(), std::string("init --data 'my data/odd one.csv' --target ") +
                                            target + " --output 'it'\\''s.yaml' --force");
    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_NE(made.out.find("wrote 'it'\\''s.yaml'\n"), std::string::npos) << made.out;
    const ProcessResult trained =
        test::trainer_in(folder.path(), "--config 'it'\\''s.yaml' --epochs 2");
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
  }
  const std::string yaml = test::read_file(folder.path() / "it's.yaml");
  for (const char* line :
       {"\n  path: \"my data/odd one.csv\"  # relative", "\n  delimiter: semicolon\n",
        "\n  target: \"is\\ntwo\"\n", "\n    - \"na: me #1\"  # a different text in every row\n",
        "\n    - \"-\"  # no values\n", "\n    - \"[const]\"  # constant"}) {
    EXPECT_NE(yaml.find(line), std::string::npos) << line << "\nis not in\n" << yaml;
  }
}

TEST(InitTest, WhyNothingIsLeftToLearnFromIsSaid) {
  const test::TemporaryFolder folder;
  folder.write("t.csv", "a,b\n1,\"2,5\"\n2,\"3,5\"\n1,\"4,5\"\n");
  const ProcessResult result =
      test::trainer_in(folder.path(), "init --data t.csv --target a --output -");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err,
            "read 3 rows and 2 columns from t.csv, delimiter comma\n"
            "dropping column \"b\": numbers with a decimal comma or thousands separator, the first "
            "in line 2: \"2,5\"; write it as 2.5\n"
            "error: " +
                (fs::canonical(folder.path()) / "t.csv").string() +
                ":1: no feature columns besides the target \"a\"; remove some from data.ignore and "
                "data.id\n");
}

TEST(InitTest, WithoutATargetItListsTheColumns) {
  const test::TemporaryFolder folder;
  fs::copy(table("penguins.csv"), folder.path() / "penguins.csv");
  const ProcessResult result = test::trainer_in(folder.path(), "init --data penguins.csv");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            R"(column             contents  distinct  missing  first value  as target
species            text             3        0  Adelie       3 classes
island             text             3        0  Torgersen    3 classes
beak_length_mm     numbers                   2  39.1         numeric
beak_depth_mm      numbers                   2  18.7         numeric
flipper_length_mm  integers        55        2  181          numeric
body_mass_g        integers        94        2  3750         numeric
sex                text             2       11  MALE         2 classes
)");
  EXPECT_EQ(result.err,
            "choose the column to predict with --target, and a file with --output; likely targets: "
            "\"species\" or \"sex\"\n");
  const ProcessResult with_output =
      test::trainer_in(folder.path(), "init --data penguins.csv -o p.yaml");
  EXPECT_EQ(with_output.exit_code, 2);
  EXPECT_EQ(with_output.err,
            "error: init: expected --target COLUMN, got nothing; likely targets: \"species\" or "
            "\"sex\"\n");
  EXPECT_FALSE(fs::exists(folder.path() / "p.yaml"));
}

TEST(InitTest, MissingValuesDecimalCommasAndRowsWithoutATargetAreFound) {
  const test::TemporaryFolder folder;
  std::string text = "sep=;\nt;u;kind;wage\n";
  for (int row = 0; row < 200; ++row) {
    text += (row % 20 == 5 ? "-" : std::to_string(row % 50) + ",5") + ";" +
            (row % 25 == 3 ? "-999" : std::to_string(row % 37)) + ";k" + std::to_string(row % 3) +
            ";" + (row % 4 == 0 ? "n/a" : std::to_string(row % 50) + ",25") + "\n";
  }
  folder.write("t.csv", text);
  const ProcessResult made =
      test::trainer_in(folder.path(), "init --data t.csv --target wage -o t.yaml");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(
      made.err,
      std::string("column \"t\": \"-\" in 10 rows is treated as a missing value (data.missing)\n"
                  "column \"u\": \"-999\" in 8 rows is treated as a missing value (data.missing)\n"
                  "read 200 rows and 4 columns from t.csv, delimiter semicolon, decimal comma\n"
                  "warning: copies of the target (leakage): \"t\"; use data.ignore to drop columns "
                  "that are not "
                  "known before the target\n") +
          test::lines_of(made.err).at(4) + "\n" + last_line(made.err) + "\n");
  const std::string yaml = test::read_file(folder.path() / "t.yaml");
  for (const char* line : {"\n  decimal: \",\"\n", "NaN, None, \"?\", \"-\", \"-999\"]\n",
                           "\n  # 50 rows have no value", "\n  drop_rows_without_target: true\n",
                           "\n  # 5 features: 2 numeric columns, 1 categorical: \"kind\" (3).\n"}) {
    EXPECT_NE(yaml.find(line), std::string::npos) << line << "\nis not in\n" << yaml;
  }
  const ProcessResult trained =
      test::trainer_in(folder.path(), "--config t.yaml --epochs 2 threads=1 members=1");
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_NE(trained.err.find("; 50 rows dropped (no target)\n"), std::string::npos) << trained.err;
}

TEST(InitTest, AnOddDateDoesNotEndIt) {
  const test::TemporaryFolder folder;
  std::string text = "when,a,y\n";
  for (int row = 0; row < 300; ++row) {
    text += (row == 150 ? std::string("soon") : std::to_string(1 + row % 28) + "/7/2023") + "," +
            std::to_string(row % 7) + "," + std::to_string(row % 2) + "\n";
  }
  folder.write("t.csv", text);
  const ProcessResult made =
      test::trainer_in(folder.path(), "init --data t.csv --target y -o t.yaml");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(made.err.find("column \"when\": \"soon\" in 1 row is treated as a missing value"),
            std::string::npos)
      << made.err;
  EXPECT_NE(test::read_file(folder.path() / "t.yaml").find("1 of dates (data.dates): \"when\""),
            std::string::npos);
}

TEST(InitTest, ATableWithDatesIsToldOfTheChronologicalSplit) {
  const test::TemporaryFolder folder;
  std::string text = "sold: on,a,y\n";
  for (int row = 0; row < 300; ++row) {
    text += fmt::format("2024-{:02}-{:02},{},{}\n", 1 + row % 12, 1 + row % 28, row % 7, row % 2);
  }
  folder.write("t.csv", text);
  const ProcessResult made = test::trainer_in(folder.path(), "init t.csv --target y");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(
      made.err.find("\"sold: on\" has dates: if the model will predict later rows, evaluate it on "
                    "the latest ones, with data.split=chronological data.time='sold: on'; a "
                    "random split may be too optimistic\n"),
      std::string::npos)
      << made.err;
  std::string yaml = test::read_file(folder.path() / "t.yaml");
  const std::string keys = "  # split: chronological\n  # time: \"sold: on\"\n";
  const std::size_t at = yaml.find(keys);
  ASSERT_NE(at, std::string::npos) << yaml;
  yaml.replace(at, keys.size(), "  split: chronological\n  time: \"sold: on\"\n");
  folder.write("t.yaml", yaml);
  const ProcessResult trained =
      test::trainer_in(folder.path(), "--config t.yaml --epochs 2 threads=1 members=1");
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
}

TEST(InitTest, IdsThatRepeatAreOfferedAsGroups) {
  const test::TemporaryFolder folder;
  std::string text = "customer_id,a,y\n";
  for (int row = 0; row < 300; ++row) {
    text += std::to_string(100 + row % 60) + "," + std::to_string(row % 37) + ".5," +
            std::to_string(row % 50) + ".25\n";
  }
  folder.write("t.csv", text);
  ASSERT_EQ(test::trainer_in(folder.path(), "init --data t.csv --target y -o t.yaml").exit_code, 0);
  std::string yaml = test::read_file(folder.path() / "t.yaml");
  const std::string hint =
      "  # If \"customer_id\" identifies a group (a customer), use it as group, not as a feature:\n"
      "  # group: customer_id  # keeps rows of a group in the same split\n";
  ASSERT_NE(yaml.find(hint), std::string::npos) << yaml;

  // The line is right as it stands.
  const std::size_t place = yaml.find("# group:");
  folder.write("t.yaml", yaml.erase(place, 2));
  const ProcessResult result =
      test::trainer_in(folder.path(), "--config t.yaml --epochs 1 members=1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("\"customer_id\": dropped: it groups the rows (data.group)\n"),
            std::string::npos)
      << result.err;
}

TEST(InitTest, FlagsSayWhatIsKnownOfTheTable) {
  const test::TemporaryFolder folder;
  std::string text = "a|b|y\n";
  for (int row = 0; row < 60; ++row) {
    text += std::to_string(row % 11) + ",5|" + std::to_string(row % 7) + "|" +
            std::to_string(row % 5) + "\n";
  }
  folder.write("t.csv", text);
  const ProcessResult made =
      test::trainer_in(folder.path(),
                       "init --data t.csv --target y --delimiter '|' --decimal , --task regression "
                       "-o -");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  for (const char* line :
       {"\n  delimiter: \"|\"\n", "\n  decimal: \",\"\n", "\n  task: regression\n"}) {
    EXPECT_NE(made.out.find(line), std::string::npos) << line << "\nis not in\n" << made.out;
  }
  const ProcessResult bad = test::trainer_in(
      folder.path(), "init --data t.csv --target y -o - --delimiter comma --decimal ,");
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_EQ(bad.err,
            "error: --decimal: data.decimal: conflicts with data.delimiter, which is also a comma; "
            "change one of them\n");
}

TEST(InitTest, ManyCategoriesWithEnoughRowsAreLearntFrom) {
  const test::TemporaryFolder folder;
  std::string text = "shop,x,y\n";
  for (int row = 0; row < 2000; ++row) {
    const int shop = row * 7919 % 100;
    const int x = row * 31 % 17;
    text += "s" + std::to_string(shop) + "," + std::to_string(x) + "," +
            std::to_string(shop * 37 % 101 + x) + ".5\n";
  }
  folder.write("t.csv", text);
  const ProcessResult made =
      test::trainer_in(folder.path(), "init --data t.csv --target y -o t.yaml");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  const ProcessResult trained =
      test::trainer_in(folder.path(), "--config t.yaml --epochs 30 threads=1");
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  const auto at = trained.out.find("R2 ");
  ASSERT_NE(at, std::string::npos) << trained.out;
  EXPECT_GT(std::stod(trained.out.substr(at + 3)), 0.95) << trained.out;
}

TEST(InitTest, NothingIsReplacedUnlessItIsSaid) {
  const test::TemporaryFolder folder;
  folder.write("there.yaml", "mine");
  const std::string arguments = "init --data " + table("penguins.csv") + " --target species ";
  const ProcessResult kept = test::trainer_in(folder.path(), arguments + "--output there.yaml");
  EXPECT_EQ(kept.exit_code, 2);
  EXPECT_EQ(kept.err,
            "error: --output: there.yaml already exists; choose another name, or overwrite it with "
            "--force\n");
  EXPECT_EQ(test::read_file(folder.path() / "there.yaml"), "mine");
  const ProcessResult is_folder = test::trainer_in(folder.path(), arguments + "--output .");
  EXPECT_EQ(is_folder.exit_code, 2);
  EXPECT_EQ(is_folder.err, "error: --output: expected a file, got the folder .\n");
  const ProcessResult no_folder = test::trainer_in(folder.path(), arguments + "--output no/a.yaml");
  EXPECT_EQ(no_folder.exit_code, 8);
  EXPECT_EQ(no_folder.err, "error: no/a.yaml: the folder " +
                               (fs::canonical(folder.path()) / "no").string() +
                               " does not exist; create it first\n");
  const ProcessResult replaced =
      test::trainer_in(folder.path(), arguments + "--output there.yaml --force --quiet");
  EXPECT_EQ(replaced.exit_code, 0);
  EXPECT_EQ(replaced.err, "");
  EXPECT_NE(test::read_file(folder.path() / "there.yaml").find("target: species"),
            std::string::npos);
}

TEST(InitTest, WrongCommandLinesAreRefused) {
  const test::TemporaryFolder folder;
  const ProcessResult empty = test::trainer_in(folder.path(), "init");
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_EQ(empty.err, "error: init: expected --data FILE.csv, got nothing\n");
  const ProcessResult pipe = test::trainer_in(folder.path(), "init --data - --target y");
  EXPECT_EQ(pipe.exit_code, 2);
  EXPECT_EQ(pipe.err,
            "error: init: expected a file whose path the configuration can contain, got --data -; "
            "save the table to a file\n"
            "init: expected --output FILE.yaml, or - for standard output, got nothing\n");
  const ProcessResult much =
      test::trainer_in(folder.path(), "init --data a.csv --output - --lr 1 --config a --resume b");
  EXPECT_EQ(much.exit_code, 2);
  EXPECT_EQ(much.err,
            "error: --resume is not supported by init\n"
            "--config is not supported by init; --output names the new configuration\n"
            "--lr: init takes no keys; set training.learning_rate in the new file\n");
  const ProcessResult missing = test::trainer_in(folder.path(), "init --data no.csv --output -");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.err, "error: no.csv: no such file\n");
}

TEST(InitOutputTest, TheTableIsNotReplacedByItsConfiguration) {
  const test::TemporaryFolder folder;
  const std::string table = "x,y\n1,a\n2,b\n3,a\n4,b\n";
  folder.write("t.csv", table);
  std::filesystem::create_symlink("t.csv", folder.path() / "link.yaml");
  for (const std::string name : {"t.csv", "./t.csv", "link.yaml"}) {
    const test::ProcessResult result =
        test::trainer_in(folder.path(), "init --data t.csv --target y --force --output " + name);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.err,
              "error: --output: " + name + " is the table itself; choose another name\n");
  }
  EXPECT_EQ(test::read_file(folder.path() / "t.csv"), table);
}

// Rows of eight columns, of which four count, and noise.
std::string noisy_rows(uint64_t seed, int count) {
  PhiloxStream random(seed, StreamId::kTrial);
  std::string text = "a,b,c,d,e,f,g,h,y\n";
  for (int row = 0; row < count; ++row) {
    std::array<double, 8> x{};
    for (double& value : x) {
      value = random.normal();
      text += fmt::format("{:.4f},", value);
    }
    const double signal = x[0] + std::sin(2 * x[1]) + x[2] * x[3] / 2;
    text += fmt::format("{:.4f}\n", signal + random.normal());
  }
  return text;
}

// Of 150 rows, 30 choose the epoch of each member. What comes of it is compared with members that
// learn from all of them, and whose epochs the rows choose on which both are tested.
TEST(InitTest, WhatIsWrittenForFewRowsFindsASensibleEpoch) {
  const test::TemporaryFolder folder;
  folder.write("t.csv", noisy_rows(2, 150));
  folder.write("new.csv", noisy_rows(102, 1'000));
  const ProcessResult made = test::trainer_in(folder.path(), "init t.csv --target y");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const auto error_with = [&](const std::string& options) {
    const ProcessResult trained = test::trainer_in(folder.path(), "--config t.yaml " + options);
    EXPECT_EQ(trained.exit_code, 0) << trained.err;
    const ProcessResult result = test::trainer_in(folder.path(), "eval --data new.csv --json");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return parse_json(result.out)["rmse"].get<double>();
  };
  const double best_error = error_with("data.validation_path=new.csv");
  EXPECT_LT(error_with(""), 1.08 * best_error);
}

}  // namespace
}  // namespace trainer
