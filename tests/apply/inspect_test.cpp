// SPDX-License-Identifier: Apache-2.0
#include "trainer/apply/inspect.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/checkpoints.h"
#include "support/temporary_folder.h"

namespace trainer::apply {
namespace {

class InspectModelTest : public testing::Test {
 protected:
  InspectModelTest() {
    std::filesystem::create_directory(folder_.path() / "checkpoints");
    checkpoint::Checkpoint c = test::sound_checkpoint();
    c.schema.columns[2] = {
        .name = "b", .kind = data::ColumnKind::kCategorical, .categories = {"x"}};
    c.schema.feature_names[1] = "b=x";
    c.schema.missing = {"NA", "-999"};
    checkpoint::write(folder_.path() / "checkpoints" / "best.pt", c);
  }

  std::string text() const { return inspection_document(inspect(folder_.path())).text(); }

  void expect_lines(const std::string& all, const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
      EXPECT_NE(all.find(line + "\n"), std::string::npos) << line << "\nis not in\n" << all;
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(InspectModelTest, DescribesModelDataAndPlace) {
  expect_lines(
      text(),
      {"progress    epoch 3 of 10, step 12", "best epoch  2 (loss 0.0625)",
       "task        classification, target \"kind\", 2 classes: \"no\", \"yes\"",
       "model       34 parameters", "            layers.0: 3 -> 4, batch norm, relu",
       "            layers.1: 4 -> 2", "loss        cross_entropy",
       "columns     2 numeric, 1 categorical, 1 id, 1 dropped",
       "            \"a\": numeric, missing values filled with 0.1",
       "            \"row\": row identifier", "            \"b\": categorical, 1 category: \"x\"",
       "            \"notes\": dropped: long",
       "data file   /data/train.csv: 987654321 bytes with CRC-32 fedcba98"});
  EXPECT_EQ(text().find("epoch  train loss"), std::string::npos);
}

TEST_F(InspectModelTest, ShowsTheFirstTheLastAndTheBestEpochs) {
  folder_.write("config_resolved.yaml", "");
  std::string metrics;
  for (int epoch = 1; epoch <= 30; ++epoch) {
    metrics += fmt::format(
        R"({{"step":{0},"epoch":{0},"split":"train","loss":{0},"accuracy":0.5,"time_seconds":1}}
{{"step":{0},"epoch":{0},"split":"validation","loss":0.5,"accuracy":0.25,"time_seconds":1}}
)",
        epoch);
  }
  folder_.write("metrics.jsonl", metrics);
  folder_.write("system.json",
                R"({"starts":[{"time":"2026-01-02T03:04:05+0000","device":"cpu"}]})");
  const std::string all = text();
  expect_lines(all, {"started     2026-01-02T03:04:05+0000 on cpu",
                     "epoch  train loss  accuracy  val loss  accuracy   time",
                     "    1      1.0000   50.00 %    0.5000   25.00 %  1.0 s",
                     "    2      2.0000   50.00 %    0.5000   25.00 %  1.0 s  best", "  ...",
                     "   24     24.0000   50.00 %    0.5000   25.00 %  1.0 s",
                     "   30     30.0000   50.00 %    0.5000   25.00 %  1.0 s"});
  EXPECT_EQ(all.find("\n   23 "), std::string::npos) << all;
}

TEST_F(InspectModelTest, JsonHasEverything) {
  const auto json = inspection_document(inspect(folder_.path())).json();
  EXPECT_EQ(json["epoch"], 3);
  EXPECT_EQ(json["best"]["value"], 0.0625);
  EXPECT_EQ(json["labels"], (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(json["model"]["weights"][0]["shape"], (std::vector<int>{4, 3}));
  EXPECT_EQ(json["columns"][2]["kind"], "categorical");
  EXPECT_EQ(json["columns"][3]["reason"], "long");
  EXPECT_EQ(json["missing"], (std::vector<std::string>{"NA", "-999"}));
  EXPECT_EQ(json["feature_scaling"]["shift"].size(), 3U);
  EXPECT_EQ(json["target_names"], (std::vector<std::string>{"kind"}));
  EXPECT_EQ(json["data_files"][0]["crc32"], "fedcba98");
  EXPECT_EQ(json["model"]["averaged_weights"], false);
  EXPECT_TRUE(json["columns"][0].contains("missing_indicator"));
  EXPECT_FALSE(json.contains("history"));
}

}  // namespace
}  // namespace trainer::apply
