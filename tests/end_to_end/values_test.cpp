// SPDX-License-Identifier: Apache-2.0
// What is one value, and which files and classes enter.
#include <cstdint>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/files.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

class ValuesTest : public testing::Test {
 protected:
  test::ProcessResult trainer(const std::string& arguments) const {
    return test::trainer_in(folder_.path(), arguments);
  }

  void expect_line(const std::string& text, const std::string& line) const {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nis not in\n" << text;
  }

  test::TemporaryFolder folder_;
};

TEST_F(ValuesTest, ANewIdIsNotTheNearestOne) {
  std::string rows = "product,qty,price\n";
  for (int64_t i = 0; i < 60; ++i) {
    rows += fmt::format("{},{},{}\n", 20240115000000000 + i % 6 * 8, i % 9, 100 * (i % 6) + i % 3);
  }
  folder_.write("p.csv", rows);
  folder_.write("new.csv", "product,qty\n20240115000000009,3\n20240115000000008,3\n");
  const test::ProcessResult trained = trainer(
      "-q data.source=csv data.path=p.csv data.target=price data.task=regression "
      "data.categorical=product training.epochs=1");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const test::ProcessResult predicted = trainer("predict runs/latest --data new.csv");
  expect_line(predicted.err,
              "column \"product\": 1 row of new.csv has a category that does not occur in the "
              "training split");
}

TEST_F(ValuesTest, AFolderSaysWhatItReadAndLeftOut) {
  std::string rows = "x,y\n";
  for (int i = 0; i < 40; ++i) rows += fmt::format("{},{}\n", i * i % 7, i % 2 == 0 ? "p" : "q");
  folder_.write("d/a.csv", rows);
  folder_.write("d/b.csv", rows);
  folder_.write("d/part-00001", rows);
  const test::ProcessResult trained =
      trainer("data.source=csv data.path=d data.target=y training.epochs=1 threads=1");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  expect_line(trained.err, "d: 2 files read: \"a.csv\" and \"b.csv\"\n");
  expect_line(trained.err, ".zst): \"part-00001\"\n");
  const test::ProcessResult predicted = trainer("predict runs/latest --data d -o p.csv");
  expect_line(predicted.err, "d: 2 files read: \"a.csv\" and \"b.csv\"\n");
  const test::ProcessResult evaluated = trainer("eval runs/latest --data d");
  expect_line(evaluated.err, ".zst): \"part-00001\"\n");
  std::filesystem::create_symlink("gone.csv", folder_.path() / "d/c.csv");
  EXPECT_EQ(trainer("data.source=csv data.path=d data.target=y").exit_code, 3);
}

TEST_F(ValuesTest, InitKeepsAClassThatIsCalledNone) {
  std::string rows = "x,y\n";
  for (int i = 0; i < 60; ++i) {
    rows += fmt::format("{},{}\n", i * i % 7, i % 3 == 0 ? "None" : i % 3 == 1 ? "A" : "B");
  }
  folder_.write("s.csv", rows);
  const test::ProcessResult made = trainer("init --data s.csv --target y -o s.yaml");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  expect_line(made.err,
              "column \"y\": \"None\" is taken for a class, not for a missing value "
              "(data.missing)\n");
  const std::string yaml = test::read_file(folder_.path() / "s.yaml");
  expect_line(yaml,
              "  # Missing values: the default list without \"None\", a class of the target.\n");
  expect_line(yaml, "  # 3 classes: \"None\" (33 %), \"A\" (33 %) and \"B\" (33 %).\n");
  EXPECT_EQ(yaml.find("drop_rows_without_target"), std::string::npos) << yaml;
  const test::ProcessResult trained = trainer("--config s.yaml --epochs 1 threads=1 members=1");
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  expect_line(trained.err, "target \"y\": 3 classes");
}

TEST_F(ValuesTest, AWorkbookIsNoTable) {
  folder_.write("t.csv", "PK\x03\x04");
  const std::string problem =
      "this is a ZIP archive, as workbooks of Excel (.xlsx) are; save a sheet as CSV (in Excel: "
      "File, Save As, CSV UTF-8), or unpack the archive\n";
  const std::string path = std::filesystem::canonical(folder_.path() / "t.csv").string();
  EXPECT_EQ(trainer("data.source=csv data.path=t.csv data.target=y").err,
            "error: " + path + ": " + problem);
  EXPECT_EQ(trainer("init --data t.csv").err, "error: t.csv: " + problem);
}

}  // namespace
}  // namespace trainer
