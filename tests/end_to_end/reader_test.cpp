// SPDX-License-Identifier: Apache-2.0
// Tables and configurations as people write them: packed, in pipes, with decimal commas.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/gzip.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;

/// A model of a table with decimal commas, codes for missing values and rows without a target.
class ReaderTest : public test::ProgramTest {
 protected:
  void SetUp() override {
    folder_.write("t.csv", table(";", ","));
    folder_.write("t.csv.gz", test::gzipped(table(";", ",")));
    folder_.write(
        "t.yaml",
        "data: {source: csv, path: t.csv, target: y, delimiter: semicolon, decimal: \",\", "
        "missing: [-999, \"-\"], drop_rows_without_target: true}\n"
        "training: {epochs: 3}\nmodel: {hidden_sizes: 8}\nthreads: 1\n");
  }

  static std::string table(const std::string& delimiter, const std::string& decimal) {
    std::string text = "id" + delimiter + "a" + delimiter + "k" + delimiter + "y\n";
    for (int row = 0; row < 80; ++row) {
      text += std::to_string(row) + delimiter +
              (row % 7 == 0 ? "-999" + decimal + "0" : std::to_string(row % 13) + decimal + "5") +
              delimiter + (row % 5 == 0 ? "-" : "k" + std::to_string(row % 3)) + delimiter +
              (row % 8 == 1 ? "-" : std::to_string(row % 11) + decimal + "25") + "\n";
    }
    return text;
  }
};

TEST_F(ReaderTest, AModelReadsNewTablesAsItReadItsOwn) {
  const ProcessResult trained = trainer("--config t.yaml");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_NE(trained.err.find("; 10 rows dropped (no target)\n"), std::string::npos) << trained.err;
  EXPECT_NE(trained.err.find("\"a\": numeric, 11 missing: filled with the mean"), std::string::npos)
      << trained.err;

  const ProcessResult plain = trainer("predict runs/latest --data t.csv");
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_EQ(plain.out.substr(0, 11), "prediction\n");
  const ProcessResult packed = trainer("predict runs/latest --data t.csv.gz");
  EXPECT_EQ(packed.out, plain.out) << packed.err;
  const ProcessResult piped =
      test::run_process("cat " + (folder_.path() / "t.csv.gz").string() + " | " + test::kTrainer +
                        " predict " + (folder_.path() / "runs/latest").string() + " --data -");
  EXPECT_EQ(piped.out, plain.out) << piped.err;

  EXPECT_EQ(trainer("predict runs/latest --data t.csv --output p.csv.gz").exit_code, 0);
  const fs::path written = folder_.path() / "p.csv.gz";
  EXPECT_TRUE(test::read_file(written).starts_with("\x1f\x8b"));
  EXPECT_EQ(test::run_process("gzip -dc " + written.string()).out, plain.out);

  folder_.write("points.txt", table("|", "."));
  const ProcessResult points =
      trainer("predict runs/latest --data points.txt --delimiter '|' --decimal .");
  std::string expected = plain.out;
  for (char& c : expected) c = c == ',' ? '.' : c;
  EXPECT_EQ(points.out, expected) << points.err;

  const ProcessResult evaluated = trainer("eval runs/latest --data t.csv.gz");
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.err, "dropped 10 rows without a target\n");
  EXPECT_NE(evaluated.out.find(": 70 rows\n"), std::string::npos) << evaluated.out;
}

TEST_F(ReaderTest, ACrossValidationLeavesOutRowsWithoutTargetToo) {
  const ProcessResult result = trainer("cv -q --config t.yaml data.id=id --folds 3");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::string written;  // id, line and target of each row
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path() / "runs")) {
    if (!entry.path().string().ends_with("_cv")) continue;
    for (const auto& cells : test::cells_of(test::read_file(entry.path() / "out_of_fold.csv"))) {
      written += cells.at(0) + " " + cells.at(1) + " " + cells.at(4) + "\n";
    }
  }
  std::string expected = "id line target\n";
  for (int row = 0; row < 80; ++row) {
    if (row % 8 == 1) continue;
    expected += std::to_string(row) + " " + std::to_string(row + 2) + " " +
                std::to_string(row % 11) + ".25\n";
  }
  EXPECT_EQ(written, expected);
}

TEST_F(ReaderTest, APackedTableTrainsToTheSameModel) {
  const ProcessResult plain = trainer("--config t.yaml -q");
  const ProcessResult packed = trainer("--config t.yaml -q data.path=t.csv.gz output_dir=packed");
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  const ProcessResult a = trainer("predict runs/latest --data t.csv");
  const ProcessResult b = trainer("predict packed/latest --data t.csv");
  EXPECT_EQ(a.out, b.out);
  const ProcessResult made = trainer("init --data t.csv.gz --target y -o made.yaml");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  const std::string yaml = test::read_file(folder_.path() / "made.yaml");
  EXPECT_NE(yaml.find("\ntag: t  #"), std::string::npos) << yaml;
}

TEST_F(ReaderTest, PackedImagesAreReadFromAPipe) {
  std::string images("\0\0\x08\x03\0\0\0\x28\0\0\0\x02\0\0\0\x02", 16);
  std::string labels("\0\0\x08\x01\0\0\0\x28", 8);
  for (int i = 0; i < 40; ++i) {
    for (int pixel = 0; pixel < 4; ++pixel) images += static_cast<char>((i * 7 + pixel * 31) % 101);
    labels += static_cast<char>(i % 2);
  }
  folder_.write("images", images);
  folder_.write("images.gz", test::gzipped(images));
  folder_.write("labels", labels);
  const ProcessResult trained = trainer(
      "data.source=idx data.idx.train_images=images data.idx.train_labels=labels "
      "training.epochs=1 threads=1");
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const ProcessResult file = trainer("predict runs/latest --data images");
  ASSERT_EQ(file.exit_code, 0) << file.err;
  for (const char* name : {"images", "images.gz"}) {
    const ProcessResult piped =
        test::run_process("cat " + (folder_.path() / name).string() + " | " + test::kTrainer +
                          " predict " + (folder_.path() / "runs/latest").string() + " --data -");
    EXPECT_EQ(piped.exit_code, 0) << piped.err;
    EXPECT_EQ(piped.out, file.out);
  }
}

TEST_F(ReaderTest, AnIdThatIsCalledAsAPredictionIsFoundBeforeTraining) {
  folder_.write("p.csv", "prediction,a,y\nr1,1,x\nr2,2,z\nr3,3,x\nr4,4,z\n");
  const ProcessResult result =
      trainer("data.source=csv data.path=p.csv data.target=y data.id=prediction");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err, "error: " + (folder_.path() / "p.csv").string() +
                            ": data.id: column \"prediction\" has the same name as a column of the "
                            "predictions; rename it, or list it in data.ignore\n");
  EXPECT_FALSE(fs::exists(folder_.path() / "runs"));
}

TEST_F(ReaderTest, WhyTheTaskIsWhatItIsStandsInTheFirstLines) {
  std::string text = "a,age,kind\n";
  for (int row = 0; row < 400; ++row) {
    text += std::to_string(row % 17) + "," + std::to_string(18 + row % 80) + "," +
            std::to_string(row % 3) + "\n";
  }
  folder_.write("ages.csv", text);
  const std::string common = "data.source=csv data.path=ages.csv training.epochs=1 threads=1 ";
  const ProcessResult age = trainer(common + "data.target=age");
  EXPECT_NE(age.err.find("numeric (regression because it has 80 distinct integer values)\n"),
            std::string::npos)
      << age.err;
  const ProcessResult kind = trainer(common + "data.target=kind");
  EXPECT_NE(kind.err.find("3 classes (classification because it has 3 distinct integer values)\n"),
            std::string::npos)
      << kind.err;
  const ProcessResult made = trainer("init --data ages.csv --target age -o -");
  EXPECT_NE(made.out.find("\n"
                          "  task: regression  # because it has 80 distinct integer values; set "
                          "task: classification if they are classes\n"),
            std::string::npos)
      << made.out;
}

TEST_F(ReaderTest, AConfigurationMayComeFromAPipe) {
  const std::string folder = folder_.path().string();
  for (const char* name : {"-", "/dev/stdin"}) {
    const ProcessResult result =
        test::run_process("cd " + folder + " && cat t.yaml | " + test::kTrainer +
                          " config print --config " + name + " | grep '  path:'");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find((fs::canonical(folder) / "t.csv").string()), std::string::npos)
        << result.out;
  }
}

TEST_F(ReaderTest, CheckWantsSomethingToCheck) {
  const ProcessResult result = trainer("config check");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: config check: expected a configuration, got nothing; add --config FILE\n");
}

TEST_F(ReaderTest, CheckNamesFilesThatAreNotThere) {
  const ProcessResult result = trainer("config check --config t.yaml data.path=no.csv");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(
      result.out,
      "the configuration is valid: t.yaml, 1 value of the command line; the data were not read\n");
  EXPECT_EQ(result.err,
            "warning: data.path: " + (fs::canonical(folder_.path()) / "no.csv").string() +
                ": no such file\n");
}

TEST_F(ReaderTest, WordsThatAreNoCommandsAreUnderstood) {
  EXPECT_EQ(trainer("t.yaml").err,
            "error: command line: expected a command or key=value, got \"t.yaml\"; a "
            "configuration is given as --config t.yaml\n");
  EXPECT_EQ(trainer("config foo").err,
            "error: config: expected print, check, reference, schema or schedule, got \"foo\"\n");
  EXPECT_EQ(trainer("config chek").err,
            "error: config: expected print, check, reference, schema or schedule, got \"chek\"; "
            "did you mean \"check\"?\n");
  EXPECT_EQ(trainer("config").err,
            "error: config: expected print, check, reference, schema or schedule, got nothing\n");
  const ProcessResult help = trainer("help");
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_EQ(help.out, trainer("--help").out);
  const ProcessResult train = trainer("train --help");
  EXPECT_EQ(train.exit_code, 0);
  EXPECT_NE(train.out.find("trainer train [OPTIONS]"), std::string::npos) << train.out;
  EXPECT_NE(train.out.find("--lr VALUE"), std::string::npos) << train.out;
  EXPECT_EQ(train.out.find("find-batch"), std::string::npos) << train.out;
}

}  // namespace
}  // namespace trainer
