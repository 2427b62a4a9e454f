// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/config/data_config.h"
#include "trainer/table/dataset.h"

#include "support/temporary_folder.h"

namespace trainer::data {
namespace {

using Lines = std::vector<std::string>;

class TargetCopiesTest : public ::testing::Test {
 protected:
  Lines copies(int num_rows, const std::string& header,
               const std::function<std::string(int)>& row) {
    std::string text = header + "\n";
    for (int i = 0; i < num_rows; ++i) text += row(i) + "\n";
    config::DataConfig data;
    data.source = config::Source::kCsv;
    data.path = folder_.write("t.csv", text).string();
    data.target = {"y"};
    const Datasets datasets = load_datasets(data, 1);
    for (const std::string& line : datasets.target_copies) {
      EXPECT_NE(std::find(datasets.warnings.begin(), datasets.warnings.end(), line),
                datasets.warnings.end());
    }
    return datasets.target_copies;
  }

  static std::string line(const std::string& names) {
    return "copies of the target (leakage): " + names +
           "; use data.ignore to drop columns that are not known before the target";
  }

  test::TemporaryFolder folder_;
};

TEST_F(TargetCopiesTest, ColumnsWithAValueForEachClassAreNamed) {
  const std::vector<std::string> labels = {"cat", "dog", "fox"};
  const auto row = [&](int i) {
    const auto label = static_cast<size_t>(i * 7 % 3);
    return fmt::format("{},{},{},{},{}", i, label, i == 5 ? "" : labels[2 - label],
                       label == 0 ? 1 : 0, labels[label]);
  };
  EXPECT_EQ(copies(60, "i,number,text,first,y", row), Lines{line("\"number\" and \"text\"")});
  EXPECT_EQ(copies(19, "i,number,text,first,y", row), Lines{});  // by chance
}

TEST_F(TargetCopiesTest, LinesThroughATargetOfARegressionAreNamed) {
  const auto row = [](int i) {
    const double celsius = i * 37 % 101 + 0.25;
    return fmt::format("{},{:.1f},{},{}", i, celsius * 1.8 + 32, celsius + i % 2 * 0.5, celsius);
  };
  EXPECT_EQ(copies(100, "i,fahrenheit,measured_again,y", row), Lines{line("\"fahrenheit\"")});
}

}  // namespace

}  // namespace trainer::data
