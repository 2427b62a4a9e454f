// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/program_test.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

class DvcliveTest : public test::ProgramTest {
 protected:
  std::string curve(const std::string& folder, const std::string& name) const {
    return test::read_file(path(folder) / "plots/metrics" / name);
  }
};

const std::string kLiveRun =
    "-q threads=1 model.hidden_sizes=[8] data.synthetic.num_samples=200 "
    "training.schedule.name=constant ";

TEST_F(DvcliveTest, AResumedRunHasTheCurvesOfOneThatWasNotInterrupted) {
  ASSERT_EQ(trainer(kLiveRun + "--epochs 4 logging.dvclive=whole").exit_code, 0);
  ASSERT_EQ(trainer(kLiveRun + "--epochs 4 logging.dvclive=parts").exit_code, 0);
  ASSERT_EQ(trainer("-q --resume runs/latest/checkpoints/checkpoint_epoch_002.pt").exit_code, 0);
  for (const char* name : {"train/loss.tsv", "validation/loss.tsv", "test/accuracy.tsv"}) {
    EXPECT_EQ(curve("parts", name), curve("whole", name)) << name;
    EXPECT_FALSE(curve("whole", name).empty()) << name;
  }
  EXPECT_EQ(test::lines_of(curve("whole", "train/loss.tsv")).size(), 5U);
  const Json latest = parse_json(test::read_file(path("whole/metrics.json")));
  EXPECT_EQ(latest["test"]["accuracy"], summary()["test"]["accuracy"]);
}

TEST_F(DvcliveTest, AnotherRunReplacesTheFiles) {
  ASSERT_EQ(trainer(kLiveRun + "--epochs 3 logging.dvclive=live").exit_code, 0);
  ASSERT_EQ(trainer(kLiveRun + "--epochs 1 logging.dvclive=live").exit_code, 0);
  EXPECT_EQ(test::lines_of(curve("live", "train/loss.tsv")).size(), 2U);
}

TEST_F(DvcliveTest, AFolderOfSomethingElseIsRefusedBeforeAnythingIsWritten) {
  folder_.write("notes.txt", "");
  const test::ProcessResult result = trainer(kLiveRun + "logging.dvclive=.");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("which has \"notes.txt\"; name a new folder, such as dvclive\n"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(test::file_names(folder_.path()), (std::vector<std::string>{"notes.txt"}));
}

TEST_F(DvcliveTest, TheRunsOfACrossValidationHaveNone) {
  ASSERT_EQ(trainer("cv --folds 2 " + kLiveRun + "--epochs 1 logging.dvclive=live").exit_code, 0);
  EXPECT_FALSE(fs::exists(path("live")));
}

}  // namespace
}  // namespace trainer
