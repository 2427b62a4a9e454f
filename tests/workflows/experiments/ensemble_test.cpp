// SPDX-License-Identifier: Apache-2.0
#include "trainer/workflows/experiments/ensemble.h"

#include <gtest/gtest.h>

#include "trainer/apply/ensemble.h"
#include "trainer/base/error.h"
#include "trainer/config/dump.h"

#include "support/error_of.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

constexpr int kStopSignal = 15;

/// Ensembles whose members write their configuration and a summary instead of training. Without a
/// test split, nobody looks at their weights.
class EnsembleTest : public testing::Test {
 protected:
  EnsembleTest() {
    request_.overrides = {{"output_dir", folder_.path().string(), "--output-dir"},
                          {"tag", "t", "--tag"},
                          {"data.test_fraction", "0", "test"}};
    request_.num_members = 3;
    request_.train = [&](const RunJob& job) { return train(job); };
    request_.on_member = [&](const std::string& name, const std::string& metric, double value) {
      values_.push_back(name + ": " + metric + " " + std::to_string(value));
    };
  }

  RunOutcome train(const RunJob& job) {
    const config::Config& config = job.config.config;
    jobs_.push_back(config);
    if (static_cast<int>(jobs_.size()) > num_complete_) return {folder_.path(), kStopSignal};
    const fs::path run = fs::path(config.output_dir) / ("20260101_000000_" + config.tag);
    fs::create_directories(run);
    folder_.write((run / "config_resolved.yaml").string(), config::dump(job.config));
    folder_.write((run / "summary.json").string(),
                  R"({"best": {"epoch": 3, "split": "validation", "metric": "accuracy",
                               "value": 0.5}})");
    return {run, 0};
  }

  std::string message(ErrorKind kind) {
    return test::message_of(kind, [&] { train_ensemble(request_); });
  }

  test::TemporaryFolder folder_;
  EnsembleRequest request_;
  int num_complete_ = 99;  // runs until one is ended by a signal
  std::vector<config::Config> jobs_;
  Names values_;
};

TEST_F(EnsembleTest, EachMemberHasItsSeedAndItsValidationFold) {
  const EnsembleReport report = train_ensemble(request_);
  EXPECT_EQ(report.stop_signal, 0);
  EXPECT_TRUE(report.folder.filename().string().ends_with("_t_ensemble"));
  ASSERT_EQ(jobs_.size(), 3U);
  for (int64_t i = 0; i < 3; ++i) {
    const config::Config& config = jobs_[static_cast<std::size_t>(i)];
    EXPECT_EQ(config.seed, 42);
    EXPECT_EQ(config::training_seed(config), static_cast<uint64_t>(42 + i));
    EXPECT_EQ(config.data.validation_folds, 3);
    EXPECT_EQ(config.data.validation_fold, i + 1);
    EXPECT_EQ(config.data.fit_on, config::FitOn::kTrainAndValidation);
  }
  EXPECT_EQ(values_[2], "member 3/3: validation accuracy 0.500000");
  const auto file = apply::read_ensemble(report.folder);
  ASSERT_TRUE(file);
  EXPECT_EQ(file->num_members, 3);
  EXPECT_EQ(file->runs, (Names{"20260101_000000_member_1", "20260101_000000_member_2",
                               "20260101_000000_member_3"}));
  EXPECT_EQ(report.json, test::read_file(report.folder / "summary.json"));
}

TEST_F(EnsembleTest, MembersWithAValidationSplitDifferInTheSeedOnly) {
  request_.overrides.push_back({"data.validation_fraction", "0", "test"});
  request_.overrides.push_back({"training.seed", "7", "test"});
  train_ensemble(request_);
  EXPECT_EQ(jobs_[2].training.seed, 9);
  EXPECT_EQ(jobs_[2].data.validation_folds, 0);
  EXPECT_EQ(jobs_[2].data.fit_on, config::FitOn::kTrain);
}

TEST_F(EnsembleTest, MembersTakeTheRecipesInTurn) {
  request_.recipes = {config::Recipe::kTabm, config::Recipe::kRealmlp};
  request_.overrides.push_back({"model.dropout", "0.25", "test"});
  num_complete_ = 1;
  const fs::path folder = train_ensemble(request_).folder;
  EXPECT_EQ(apply::read_ensemble(folder)->recipes, request_.recipes);
  request_.resume = folder;
  request_.overrides.clear();
  request_.recipes.clear();
  num_complete_ = 99;
  jobs_.clear();
  train_ensemble(request_);
  ASSERT_EQ(jobs_.size(), 2U);
  const config::Config& second = jobs_[0];
  EXPECT_EQ(second.recipe, config::Recipe::kRealmlp);
  EXPECT_EQ(second.data.scaling, config::ScalingMethod::kStandard);  // of images
  EXPECT_EQ(second.data.smooth_clip, 0);
  EXPECT_EQ(second.model.dropout, 0.25);
  EXPECT_EQ(second.model.num_layers, 3);
  EXPECT_EQ(jobs_[1].recipe, config::Recipe::kTabm);
  EXPECT_EQ(jobs_[1].model.num_layers, 2);
  request_.recipes = {config::Recipe::kTabm};
  EXPECT_EQ(message(ErrorKind::kUsage),
            "--recipes: " + folder.string() +
                " was started with tabm,realmlp, got tabm; remove this option");
}

TEST_F(EnsembleTest, ThereAreNotMoreRecipesThanMembers) {
  request_.recipes = {config::Recipe::kTabm, config::Recipe::kRealmlp, config::Recipe::kPlain};
  request_.num_members = 2;
  EXPECT_EQ(message(ErrorKind::kUsage),
            "--recipes: expected at most one for each of 2 members, got 3");
}

TEST_F(EnsembleTest, AResumeTrainsWhatIsMissing) {
  num_complete_ = 2;
  const EnsembleReport stopped = train_ensemble(request_);
  EXPECT_EQ(stopped.stop_signal, kStopSignal);
  EXPECT_EQ(stopped.stopped, "member 3/3");
  EXPECT_EQ(apply::read_ensemble(stopped.folder)->runs, Names{});
  request_.resume = stopped.folder;
  request_.overrides.clear();
  request_.num_members = 0;
  jobs_.clear();
  train_ensemble(request_);
  ASSERT_EQ(jobs_.size(), 1U);
  EXPECT_EQ(jobs_[0].data.validation_fold, 3);
  EXPECT_EQ(jobs_[0].training.seed, 44);
  EXPECT_EQ(apply::read_ensemble(stopped.folder)->runs.size(), 3U);
}

TEST_F(EnsembleTest, OnlyAnEnsembleOfTheSameConfigurationIsResumed) {
  request_.resume = folder_.path();
  EXPECT_EQ(
      message(ErrorKind::kCheckpoint),
      folder_.path().string() +
          ": expected the folder of an ensemble, which contains an ensemble.json; found none");
  request_.resume.reset();
  const fs::path folder = train_ensemble(request_).folder;
  request_.resume = folder;
  request_.num_members = 4;
  EXPECT_EQ(message(ErrorKind::kUsage),
            "--members: " + folder.string() + " was started with 3, got 4; remove this option");
  request_.num_members = 0;
  request_.overrides = {{"training.batch_size", "5", "test"}};
  EXPECT_EQ(message(ErrorKind::kCheckpoint),
            folder.string() +
                ": the configuration differs from that of this ensemble:\n"
                "  training.batch_size: 32 before, 5 now\n"
                "undo the changes, or start a new one without --resume");
}

TEST_F(EnsembleTest, ADamagedListOfMembersIsRefused) {
  const std::vector<std::pair<std::string, std::string>> damages = {
      {"{", "expected JSON nested at most 100 deep, got something else"},
      {"{}", "members: expected an integer from 1 to 100000, got null"},
      {R"({"members": 2})", "runs: expected a list of folders, got null"},
      {R"({"members": 2, "runs": ["../x"]})",
       "runs[0]: expected the name of a folder beside the file, got \"../x\""},
      {R"({"members": 2, "runs": [".."]})",
       "runs[0]: expected the name of a folder beside the file, got \"..\""},
      {R"({"members": 2, "runs": [], "recipes": ["x"]})",
       "recipes[0]: expected a recipe, got \"x\""}};
  for (const auto& [text, problem] : damages) {
    const fs::path path = folder_.write("ensemble.json", text);
    EXPECT_EQ(
        test::message_of(ErrorKind::kCheckpoint, [&] { apply::read_ensemble(folder_.path()); }),
        path.string() + ": " + problem + "; the file is damaged");
  }
}

}  // namespace
}  // namespace trainer::experiments
