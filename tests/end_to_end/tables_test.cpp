// SPDX-License-Identifier: Apache-2.0
// The program on tables with text and missing values.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/compare.h"

#include "support/files.h"
#include "support/process.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

test::ProcessResult train(const test::TemporaryFolder& folder, const std::string& name,
                          const std::string& more = "") {
  return test::trainer_in(folder.path(), test::with_config(name) + more);
}

// The number behind `word` in the results.
double find_number(const std::string& out, const std::string& word) {
  const std::size_t test = out.find("test ");
  const std::size_t at = out.find(word + " ", test);
  return at == std::string::npos ? -1 : std::stod(out.substr(at + word.size()));
}

TEST(TablesTest, PenguinsReachNinetySevenPercent) {
  const test::TemporaryFolder folder;
  const test::ProcessResult result = train(folder, "penguins.yaml");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(find_number(result.out, "accuracy"), 97) << result.out;
  for (const char* line : {"columns     4 numeric, 2 categorical\n",
                           "            \"island\": categorical (text), 3 categories\n",
                           "            \"sex\": categorical (text), 2 categories, 11 missing: a "
                           "separate category\n"}) {
    EXPECT_NE(result.err.find(line), std::string::npos) << line << "\nis not in\n" << result.err;
  }
}

TEST(TablesTest, ARecipeTakesTaskAndBatchSizeFromTheTable) {
  const test::TemporaryFolder folder;
  const std::string recipe = " recipe=realmlp training.epochs=4";
  const std::string unset =
      " training.batch_size=null training.learning_rate=null training.schedule.name=null";
  const test::ProcessResult result = train(folder, "auto_mpg.yaml", recipe + unset);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string resolved = test::read_file(folder.path() / "runs/latest/config_resolved.yaml");
  for (const char* line : {"  activation: mish                            # recipe realmlp\n",
                           "  batch_size: 64                              # recipe realmlp\n",
                           "  learning_rate: 0.2                          # recipe realmlp\n"}) {
    EXPECT_NE(resolved.find(line), std::string::npos) << line << "\nis not in\n" << resolved;
  }
  const test::ProcessResult again =
      test::trainer_in(folder.path(), "--resume runs/latest training.epochs=5");
  EXPECT_EQ(again.exit_code, 0) << again.err;
  const test::ProcessResult other =
      test::trainer_in(folder.path(), "--resume runs/latest training.learning_rate=0.1");
  EXPECT_EQ(other.exit_code, 7) << other.err;
}

TEST(TablesTest, ARecipeAlsoFitsATableWithoutNumbers) {
  const test::TemporaryFolder folder;
  std::string table = "a,b,y\n";
  for (int i = 0; i < 60; ++i)
    table += i % 3 == 0 ? "u,v,no\n" : i % 3 == 1 ? "w,v,yes\n" : "w,x,no\n";
  folder.write("t.csv", table);
  const test::ProcessResult result = test::trainer_in(
      folder.path(),
      "data.source=csv data.path=t.csv data.target=y recipe=realmlp training.epochs=8");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(find_number(result.out, "accuracy"), 100) << result.out;
}

TEST(TablesTest, MilesAGallonAreExplainedToEightyFivePercent) {
  const test::TemporaryFolder folder;
  const test::ProcessResult result = train(folder, "auto_mpg.yaml");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_GE(find_number(result.out, "R2"), 0.85) << result.out;
  EXPECT_NE(result.err.find(
                "\"name\": dropped: almost every text is different (304 distinct in 398 rows)\n"),
            std::string::npos)
      << result.err;
}

// A number of one's own for each of 100 cities decides the class.
std::string cities_table(int64_t num_rows) {
  std::string text = "city,noise,y\n";
  uint64_t state = 1;
  for (int64_t i = 0; i < num_rows; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const uint64_t city = (state >> 33U) % 100;
    text +=
        fmt::format("city {},{},{}\n", city, (state >> 40U) % 1000, city * city * 7919 % 101 % 3);
  }
  return text;
}

TEST(TablesTest, AColumnOfManyCategoriesIsLearntAsWellEmbeddedAsOneHot) {
  const test::TemporaryFolder folder;
  folder.write("cities.csv", cities_table(5000));
  const std::string arguments =
      "data.source=csv data.path=cities.csv data.target=y data.categorical=city seed=3 "
      "training.learning_rate=0.01 training.epochs=10 data.embed_above=";
  double embedded = 0;
  for (const char* embed_above : {"16", "1000"}) {
    const test::ProcessResult result = test::trainer_in(folder.path(), arguments + embed_above);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const double accuracy = find_number(result.out, "accuracy");
    EXPECT_GT(accuracy, 95) << result.out;
    if (embedded == 0) {
      embedded = accuracy;
      EXPECT_NE(result.err.find("\"city\": categorical, 100 categories, embedding of size 21\n"),
                std::string::npos)
          << result.err;
    } else {
      EXPECT_GE(embedded, accuracy - 1);
    }
  }
  EXPECT_EQ(test::trainer_in(folder.path(), "verify runs/latest").exit_code, 0);
}

TEST(TablesTest, ARunWithEmbeddingsGoesOnExactly) {
  const test::TemporaryFolder folder;
  folder.write("cities.csv", cities_table(600));
  ASSERT_EQ(test::trainer_in(folder.path(),
                             "data.source=csv data.path=cities.csv data.target=y "
                             "data.categorical=city threads=2 --epochs 3")
                .exit_code,
            0);
  const auto last = folder.path() / "runs/latest/checkpoints/last.pt";
  const checkpoint::Checkpoint whole = checkpoint::read(last);
  const test::ProcessResult resumed =
      test::trainer_in(folder.path(), "--resume runs/latest/checkpoints/checkpoint_epoch_002.pt");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(checkpoint::first_difference(whole, checkpoint::read(last)), std::nullopt);
}

TEST(TablesTest, ColumnsWithoutInformationAreNamed) {
  const test::TemporaryFolder folder;
  folder.write("t.csv", "a,same,y\n1,5,p\n2,5,q\n3,5,p\n4,5,q\n");
  const test::ProcessResult result =
      test::trainer_in(folder.path(),
                       "data.source=csv data.path=t.csv data.target=y data.validation_fraction=0 "
                       "data.test_fraction=0 training.epochs=1");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("\n"
                            "columns     constant in the training split: \"same\"; constant "
                            "columns carry no information, drop them with data.ignore\n"),
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
  EXPECT_TRUE(schema.columns[5].has_missing_indicator);
  EXPECT_EQ(schema.num_features(), 10);
  const test::ProcessResult resumed =
      test::trainer_in(folder.path(), "--resume runs/latest --epochs 3");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(checkpoint::read(last).state.position.epoch, 3);
}

}  // namespace
}  // namespace trainer
