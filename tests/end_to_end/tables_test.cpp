// SPDX-License-Identifier: Apache-2.0
// The program on tables with text and missing values.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/checkpoint/checkpoint.h"

#include "support/process.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

using test::kSource;

test::ProcessResult train(const test::TemporaryFolder& folder, const std::string& name,
                          const std::string& more = "") {
  return test::trainer_in(folder.path(),
                          "--config " + (kSource / "configs" / name).string() + " " + more);
}

// The number behind `word` in the results.
double result_of(const std::string& out, const std::string& word) {
  const std::size_t test = out.find("test ");
  const std::size_t at = out.find(word + " ", test);
  return at == std::string::npos ? -1 : std::stod(out.substr(at + word.size()));
}

TEST(TablesTest, PenguinsReachNinetySevenPercent) {
  const test::TemporaryFolder folder;
  const test::ProcessResult result = train(folder, "penguins.yaml");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(result_of(result.out, "accuracy"), 97) << result.out;
  for (const char* line : {"columns     4 numeric, 2 categorical\n",
                           "            \"island\": categorical as it holds text, 3 categories\n",
                           "            \"sex\": categorical as it holds text, 2 categories, 11 "
                           "missing: a category of "
                           "their own\n"}) {
    EXPECT_NE(result.err.find(line), std::string::npos) << line << "\nis not in\n" << result.err;
  }
}

TEST(TablesTest, MilesAGallonAreExplainedToEightyFivePercent) {
  const test::TemporaryFolder folder;
  const test::ProcessResult result = train(folder, "auto_mpg.yaml");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const double variance = 61;  // of all values
  EXPECT_LT(result_of(result.out, "loss"), 0.15 * variance) << result.out;
  EXPECT_NE(result.err.find("\"name\": left out: more than 64 different texts "
                            "(data.max_categories)\n"),
            std::string::npos)
      << result.err;
}

TEST(TablesTest, ColumnsWithoutInformationAreNamed) {
  const test::TemporaryFolder folder;
  folder.write("t.csv", "a,same,y\n1,5,p\n2,5,q\n3,5,p\n4,5,q\n");
  const test::ProcessResult result =
      test::trainer_in(folder.path(),
                       "data.source=csv data.path=t.csv data.target=y data.validation_fraction=0 "
                       "data.test_fraction=0 training.epochs=1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("\ncolumns     the same value in every row of the training part: "
                            "\"same\"; nothing "
                            "can be learnt from that, data.ignore leaves columns out\n"),
            std::string::npos)
      << result.err;
}

TEST(TablesTest, TheCheckpointKnowsTheColumnsAndARunGoesOnWithThem) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(train(folder, "penguins.yaml", "--epochs 2 threads=1").exit_code, 0);
  const auto last = folder.path() / "runs/latest/checkpoints/last.pt";
  const data::Schema schema = checkpoint::read(last).schema;
  ASSERT_EQ(schema.columns.size(), 6U);
  EXPECT_EQ(schema.columns[0].name, "island");
  EXPECT_EQ(schema.columns[0].categories,
            (std::vector<std::string>{"Biscoe", "Dream", "Torgersen"}));
  EXPECT_TRUE(schema.columns[5].marks_missing);
  EXPECT_EQ(schema.num_features(), 10);
  const test::ProcessResult resumed =
      test::trainer_in(folder.path(), "--resume runs/latest --epochs 3");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(checkpoint::read(last).position.epoch, 3);
}

}  // namespace
}  // namespace trainer
