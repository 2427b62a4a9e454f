// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/experiments/cross_validation.h"

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"
#include "trainer/config/dump.h"
#include "trainer/metrics/folds.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr int kSignal = 15;

/// Cross-validations whose runs write their configuration and a summary instead of training.
class CrossValidationTest : public testing::Test {
 protected:
  CrossValidationTest() {
    request_.overrides = {{"output_dir", folder_.path().string(), "--output-dir"},
                          {"tag", "t", "--tag"}};
    request_.num_folds = 3;
    request_.train = [&](const RunJob& job) { return train(job); };
    request_.on_result = [&](const metrics::FoldResult&, const std::string& name) {
      names_.push_back(name);
    };
  }

  RunOutcome train(const RunJob& job) {
    const config::Config& config = job.config.config;
    jobs_.push_back(config);
    if (static_cast<int>(jobs_.size()) > num_complete_) return {folder_.path(), kSignal};
    const fs::path run = fs::path(config.output_dir) / ("20260101_000000_" + config.tag);
    fs::create_directories(run);
    folder_.write((run / "config_resolved.yaml").string(), config::dump(job.config));
    folder_.write((run / "summary.json").string(), R"({"test": {"rows": 9, "loss": 0.5}})");
    return {run, 0};
  }

  std::string message(ErrorKind kind) {
    return test::message_of(kind, [&] { cross_validate(request_); });
  }

  test::TemporaryFolder folder_;
  CrossValidationRequest request_;
  int num_complete_ = 0;  // runs until one is ended by a signal
  std::vector<config::Config> jobs_;
  Names names_;
};

TEST_F(CrossValidationTest, EachRunHasItsFoldAndAFolderWithinThatOfAll) {
  num_complete_ = 2;
  const CrossValidationReport report = cross_validate(request_);
  EXPECT_EQ(report.stop_signal, kSignal);
  EXPECT_EQ(report.stopped, "fold 3/3");
  EXPECT_EQ(report.folder.parent_path(), folder_.path());
  EXPECT_TRUE(report.folder.filename().string().ends_with("_t_cv"));
  EXPECT_EQ(report.results.size(), 2U);
  EXPECT_EQ(metrics::folds_document(report.results, report.counts).json(),
            parse_json(test::read_file(report.folder / "cv.json")));
  EXPECT_EQ(names_, (Names{"fold 1/3", "fold 2/3"}));
  ASSERT_EQ(jobs_.size(), 3U);
  EXPECT_EQ(jobs_[1].data.folds, 3);
  EXPECT_EQ(jobs_[1].data.fold, 2);
  EXPECT_EQ(jobs_[1].tag, "fold_2");
  EXPECT_EQ(jobs_[1].output_dir, report.folder.string());
}

TEST_F(CrossValidationTest, AResumeTrainsWhatIsMissingOrHasOtherSettings) {
  num_complete_ = 1;
  request_.resume = cross_validate(request_).folder;
  request_.overrides.clear();
  request_.num_folds = 0;
  jobs_.clear();
  EXPECT_EQ(cross_validate(request_).stopped, "fold 3/3");
  ASSERT_EQ(jobs_.size(), 2U);
  EXPECT_EQ(jobs_[0].data.fold, 2);
  request_.overrides = {{"training.epochs", "3", "--epochs"}};
  jobs_.clear();
  num_complete_ = 0;
  EXPECT_EQ(cross_validate(request_).stopped, "fold 1/3");
}

TEST_F(CrossValidationTest, RepeatsAreCountedInTheFolder) {
  request_.num_repeats = 2;
  num_complete_ = 4;
  const fs::path folder = cross_validate(request_).folder;
  EXPECT_EQ(names_[3], "fold 1/3 of repeat 2/2");
  EXPECT_EQ(jobs_[3].data.repeat, 2);
  request_.resume = folder;
  request_.num_repeats = 3;
  EXPECT_EQ(message(ErrorKind::kUsage),
            "--repeats: " + folder.string() + " was started with 2, got 3; remove this option");
}

TEST_F(CrossValidationTest, OnlyACrossValidationOfTheSameConfigurationIsResumed) {
  request_.resume = folder_.path();
  EXPECT_EQ(message(ErrorKind::kCheckpoint),
            folder_.path().string() +
                ": expected the folder of a cross-validation, which contains a run folder ending "
                "in _fold_1; found none");
  request_.resume.reset();
  num_complete_ = 1;
  const fs::path folder = cross_validate(request_).folder;
  request_.resume = folder;
  request_.overrides = {{"seed", "5", "--seed"}};
  EXPECT_EQ(message(ErrorKind::kCheckpoint),
            folder.string() +
                ": the configuration differs from that of this cross-validation:\n"
                "  seed: 42 before, 5 now\n"
                "undo the changes, or start a new one without --resume");
}

TEST_F(CrossValidationTest, AWrongConfigurationLeavesNoFolder) {
  request_.overrides.push_back({"data.nothing", "x", "--set"});
  EXPECT_THROW(cross_validate(request_), Error);
  EXPECT_TRUE(jobs_.empty());
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace trainer::experiments
