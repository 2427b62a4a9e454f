// SPDX-License-Identifier: Apache-2.0
// A report about a run with very many classes stays small.
#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"
#include "trainer/config/load.h"
#include "trainer/report/html/report.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/folder/run_dir.h"
#include "trainer/table/dataset.h"

#include "support/error_of.h"
#include "support/run_folders.h"
#include "support/synthetic_models.h"
#include "support/temporary_folder.h"

namespace trainer::report {
namespace {

constexpr int kClasses = 10'000;

/// What the page draws.
Json data_of(const std::string& html) {
  const std::string begin = "id=\"data\">";
  const std::size_t from = html.find(begin) + begin.size();
  return parse_json(html.substr(from, html.find("</script>", from) - from));
}

std::vector<std::string> many_labels() {
  std::vector<std::string> labels;
  for (int i = 0; i < kClasses; ++i) labels.push_back(fmt::format("a class with the number {}", i));
  return labels;
}

Json summary_of(const std::vector<std::string>& labels) {
  Json cells = Json::array();
  Json classes = Json::array();
  for (int i = 0; i < kClasses; ++i) {
    cells.push_back({i, i, 3});
    classes.push_back({{"label", labels[static_cast<std::size_t>(i)]},
                       {"precision", 1},
                       {"recall", 1},
                       {"f1", 1},
                       {"rows", 3}});
  }
  cells.push_back({7000, 9000, 5});  // the only confusion
  return {{"test",
           {{"rows", 30'005},
            {"loss", 0.1},
            {"accuracy", 0.99},
            {"classes", classes},
            {"confusion_matrix", {{"labels", labels}, {"cells", cells}}}}}};
}

class ManyClassesTest : public testing::Test {
 protected:
  Json report(const std::string& folder, bool evaluates) {
    const auto entry = tracking::read_entry(folder_.path() / folder);
    const std::string html = report_html({*entry}, {.evaluates = evaluates, .num_threads = 1});
    EXPECT_LT(html.size(), 1'000'000U);
    return data_of(html);
  }

  test::TemporaryFolder folder_;
};

TEST_F(ManyClassesTest, TheMatrixHasTheClassesThatAreConfusedMost) {
  test::write_run(folder_, "r");
  folder_.write("r/summary.json", summary_of(many_labels()).dump());
  const Json found = report("r", false)["evaluations"][0];
  const Json& matrix = found["confusion"];
  EXPECT_EQ(matrix["labels"].size(), 30U);
  const auto at = [&](int label) {
    const auto& labels = matrix["labels"];
    return static_cast<std::size_t>(
        std::find(labels.begin(), labels.end(), fmt::format("a class with the number {}", label)) -
        labels.begin());
  };
  ASSERT_LT(at(7000), 30U);
  ASSERT_LT(at(9000), 30U);
  EXPECT_EQ(matrix["counts"][at(7000)][at(9000)], 5);
  EXPECT_EQ(matrix["counts"][at(9000)][at(7000)], 0);
  EXPECT_EQ(matrix["counts"][at(7000)][at(7000)], 3);
  EXPECT_EQ(found["confusion_note"], "The 30 classes with the most wrong rows, of 10,000.");
  EXPECT_FALSE(found.contains("classes"));
}

// Its numbers are indices, which could lie anywhere in memory.
TEST_F(ManyClassesTest, AMatrixOfOtherClassesIsRefused) {
  test::write_run(folder_, "r");
  const Json good = summary_of(many_labels());
  const std::vector<std::pair<Json, std::string>> damages = {
      {{{"labels", many_labels()}, {"cells", {{10'000, 0, 1}}}},
       "cells[0][0]: expected an integer from 0 to 9999, got 10000"},
      {{{"labels", many_labels()}, {"cells", {{0, 1, 2}, {0, -1, 1}}}},
       "cells[1][1]: expected an integer from 0 to 9999, got -1"},
      {{{"labels", many_labels()}, {"cells", {{0, 1, 1e300}}}},
       "cells[0][2]: expected an integer from 0 to 1099511627776, got 1e+300"},
      {{{"labels", many_labels()}, {"cells", {Json::array()}}},
       "cells[0]: expected target, prediction and count, got a list"},
      {{{"labels", {"a"}}, {"counts", {{1}, {2}}}},
       "counts: expected a row for each label, got a list"},
      {{{"labels", {"a"}}, {"counts", {{1, 2}}}},
       "counts[0]: expected a number for each label, got a list"},
      {{{"labels", {1}}}, "labels[0]: expected a text, got 1"},
      {{{"labels", Json::array()}, {"cells", {{0, 0, 1}}}},
       "cells[0]: expected a list of labels that has it, got a list"}};
  for (const auto& [matrix, problem] : damages) {
    Json summary = good;
    summary["test"]["confusion_matrix"] = matrix;
    const auto path = folder_.write("r/summary.json", summary.dump());
    const Error error = test::error_of([&] { report("r", false); });
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
    EXPECT_EQ(error.what(),
              path.string() + ": test.confusion_matrix." + problem + "; the file is damaged");
  }
}

// With the rows of the run: curves, importance, effects and the worst rows.
TEST_F(ManyClassesTest, AModelIsDrawnToo) {
  test::write_run(folder_, "r");
  folder_.write("r/summary.json", summary_of(many_labels()).dump());
  std::string csv = "p,q,r,s,kind,split\n";
  for (int i = 0; i < kClasses + 60; ++i) {
    const int label = i % kClasses;
    csv += fmt::format("{},{},{},{},a class with the number {},{}\n", label % 97, label % 89,
                       label % 83, 7 * label % 101, label, i < kClasses ? "train" : "test");
  }
  const std::string path = folder_.write("t.csv", csv).string();
  checkpoint::Checkpoint c = test::make_checkpoint(
      {.model = "{hidden_sizes: [8]}", .num_features = 4, .labels = many_labels()});
  c.config += fmt::format(
      "data: {{source: csv, path: {}, target: kind, split_column: split, task: classification}}\n",
      path);
  const config::Config config = config::load({{"many", c.config, ""}}, {}).config;
  const data::Datasets datasets = data::load_datasets(config.data, 1);
  c.schema = datasets.schema;
  c.fingerprints = datasets.fingerprints;
  const run::RunDir run{folder_.path() / "r"};
  std::filesystem::create_directories(run.checkpoints());
  checkpoint::write(run.checkpoints() / "best.pt", c);
  const Json found = report("r", true)["evaluations"][0];
  EXPECT_FALSE(found.contains("note")) << found["note"];
  EXPECT_EQ(found["importance"]["entries"].size(), 4U);
  const Json& effect = found["importance"]["effects"][0];
  EXPECT_EQ(effect["head"].size(), 2U + 6);
  EXPECT_EQ(effect["chart"]["series"].size(), 6U);
  EXPECT_EQ(effect["text"],
            "Mean probability of the 6 classes that change most, of 10,000, if all rows had the "
            "same value.");
  EXPECT_EQ(found["worst"]["rows"].size(), 20U);
  EXPECT_EQ(found["worst"]["head"].size(), 5U + 4);
}

}  // namespace
}  // namespace trainer::report
