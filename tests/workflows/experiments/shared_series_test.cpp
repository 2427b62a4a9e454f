// SPDX-License-Identifier: Apache-2.0
// Cross-validations and ensembles of several ranks, which are threads here.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/io/folder_lock.h"
#include "trainer/base/io/log.h"
#include "trainer/config/dump.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/workflows/experiments/cross_validation.h"
#include "trainer/workflows/experiments/ensemble.h"

#include "support/asleep.h"
#include "support/error_of.h"
#include "support/files.h"
#include "support/quiet_log.h"
#include "support/synthetic_models.h"
#include "support/temporary_folder.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

launch::Environment environment_of_rank(int64_t rank, int64_t size) {
  const std::map<std::string, std::string> variables = {{"RANK", std::to_string(rank)},
                                                        {"WORLD_SIZE", std::to_string(size)},
                                                        {"MASTER_ADDR", "localhost"},
                                                        {"MASTER_PORT", "29500"}};
  return [variables](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

/// Runs write their configuration and a summary instead of training. The first ones wait for each
/// other, so that each rank has one.
class SharedSeriesTest : public testing::Test {
 protected:
  // Ranks share the console here, and are too loud for it.
  SharedSeriesTest() { testing::internal::CaptureStderr(); }
  void TearDown() override {
    testing::internal::GetCapturedStderr();
    log::set_rank({});
  }

  RunOutcome train(const RunJob& job) {
    const config::Config& config = job.config.config;
    {
      const std::lock_guard guard(mutex_);
      trained_.push_back(config.tag);
      ranks_.insert(job.place.rank);
    }
    test::look_until([&] {
      const std::lock_guard guard(mutex_);
      return ranks_.size() >= num_ranks_;
    });
    if (job.place.rank == stopped_rank_) return {folder_.path(), SIGTERM};
    // Else nobody might be there any more to train what that one leaves.
    test::look_until([&] { return stopped_rank_ < 0 || has_stopped_; });
    const fs::path run = fs::path(config.output_dir) / ("20260101_000000_" + config.tag);
    fs::create_directories(run);
    folder_.write((run / "config_resolved.yaml").string(), config::dump(job.config));
    const std::string number = config.tag.substr(config.tag.size() - 1);
    folder_.write((run / "summary.json").string(),
                  R"({"best": {"epoch": 3, "split": "validation", "metric": "loss", "value": 0.)" +
                      number + R"(}, "test": {"rows": 9, "loss": 0.)" + number + "}}");
    // A model, whose data are not there: so there is no out_of_fold.csv.
    checkpoint::Checkpoint model = test::make_checkpoint({});
    model.config +=
        "data: {source: csv, target: y, path: " + (folder_.path() / "none.csv").string() + "}\n";
    fs::create_directories(run / "checkpoints");
    checkpoint::write(run / "checkpoints" / "best.pt", model);
    return {run, 0};
  }

  Names sorted_trained() {
    std::sort(trained_.begin(), trained_.end());
    return std::exchange(trained_, {});
  }

  /// Calls `one` on each rank, and returns what it returns.
  template <class One>
  auto on_ranks(std::size_t count, const One& one) {
    ranks_.clear();
    std::vector<std::future<decltype(one(launch::Environment()))>> futures;
    for (std::size_t rank = 0; rank < count; ++rank) {
      futures.push_back(std::async(std::launch::async, [&one, rank, count] {
        return one(environment_of_rank(static_cast<int64_t>(rank), static_cast<int64_t>(count)));
      }));
    }
    std::vector<decltype(one(launch::Environment()))> results;
    results.reserve(count);
    for (auto& future : futures) results.push_back(future.get());
    return results;
  }

  CrossValidationRequest cv_request(const launch::Environment& environment) {
    CrossValidationRequest request;
    request.overrides = {{"output_dir", folder_.path().string(), "--output-dir"}};
    request.num_folds = 5;
    request.train = [&](const RunJob& job) { return train(job); };
    request.on_result = [&](const metrics::FoldResult&, const std::string& name) {
      names_.push_back(name);
    };
    request.environment = environment;
    return request;
  }

  const test::QuietLog quiet_;
  test::TemporaryFolder folder_;
  std::mutex mutex_;
  std::size_t num_ranks_ = 1;  // that wait for each other
  std::set<int64_t> ranks_;    // that have trained
  int64_t stopped_rank_ = -1;
  std::atomic<bool> has_stopped_{false};
  Names trained_;
  Names names_;
};

TEST_F(SharedSeriesTest, RanksTrainEachFoldOnceAndRank0CollectsThem) {
  const CrossValidationReport alone = cross_validate(cv_request({}));
  const Names names = std::exchange(names_, {});
  const Names tags = sorted_trained();
  num_ranks_ = 3;
  const auto reports = on_ranks(3, [&](const launch::Environment& environment) {
    return cross_validate(cv_request(environment));
  });
  EXPECT_EQ(sorted_trained(), tags);
  EXPECT_EQ(names_, names);
  EXPECT_TRUE(reports[0].is_collected);
  EXPECT_EQ(test::read_file(reports[0].folder / "cv.json"),
            test::read_file(alone.folder / "cv.json"));
  for (const std::size_t rank : {1U, 2U}) {
    EXPECT_FALSE(reports[rank].is_collected);
    EXPECT_EQ(reports[rank].folder, reports[0].folder);
    EXPECT_EQ(reports[rank].stop_signal, 0);
    EXPECT_TRUE(reports[rank].results.empty());
  }
  EXPECT_EQ(test::file_names(reports[0].folder), test::file_names(alone.folder));
}

TEST_F(SharedSeriesTest, MoreRanksThanRunsDoNoHarm) {
  num_ranks_ = 1;  // nobody waits for a rank that has none
  const auto reports = on_ranks(4, [&](const launch::Environment& environment) {
    CrossValidationRequest request = cv_request(environment);
    request.num_folds = 2;
    return cross_validate(request);
  });
  EXPECT_EQ(sorted_trained(), (Names{"fold_1", "fold_2"}));
  EXPECT_EQ(reports[0].results.size(), 2U);
}

TEST_F(SharedSeriesTest, OnlyRank0WritesFilesOfTheSeries) {
  num_ranks_ = 2;
  stopped_rank_ = 0;
  const auto reports = on_ranks(2, [&](const launch::Environment& environment) {
    CrossValidationReport report = cross_validate(cv_request(environment));
    has_stopped_ = true;
    return report;
  });
  EXPECT_EQ(reports[0].stop_signal, SIGTERM);
  EXPECT_EQ(reports[1].stop_signal, 0);
  EXPECT_EQ(test::file_names(reports[0].folder).size(), 5U);
  // And a resume trains nothing again.
  stopped_rank_ = -1;
  trained_.clear();
  const auto resumed = on_ranks(2, [&](const launch::Environment& environment) {
    CrossValidationRequest request = cv_request(environment);
    request.overrides.clear();
    request.num_folds = 0;
    request.resume = reports[0].folder;
    return cross_validate(request);
  });
  EXPECT_EQ(sorted_trained(), Names{});
  EXPECT_EQ(resumed[0].results.size(), 5U);
}

TEST_F(SharedSeriesTest, MembersAreThoseOfOneProcess) {
  const auto train_members = [&](const launch::Environment& environment) {
    EnsembleRequest request;
    request.overrides = {{"output_dir", folder_.path().string(), "--output-dir"},
                         {"data.test_fraction", "0", "test"}};
    request.train = [&](const RunJob& job) {
      const RunOutcome outcome = train(job);
      folder_.write((outcome.run_dir / "summary.json").string(), "{\"loss\": 1}");
      return outcome;
    };
    request.on_member = [](const std::string&, const std::string&, double) {};
    request.environment = environment;
    return train_ensemble(request);
  };
  const EnsembleReport alone = train_members({});
  const Names tags = sorted_trained();
  num_ranks_ = 2;
  const auto reports = on_ranks(2, train_members);
  EXPECT_EQ(sorted_trained(), tags);
  EXPECT_TRUE(reports[0].is_collected);
  EXPECT_EQ(reports[0].json, alone.json);
  EXPECT_FALSE(reports[1].is_collected);
  EXPECT_EQ(reports[1].json, "");
  for (const char* name : {"ensemble.json", "summary.json"}) {
    EXPECT_EQ(test::read_file(reports[0].folder / name), test::read_file(alone.folder / name));
  }
}

TEST_F(SharedSeriesTest, AllRanksEndIfRank0CannotOpenTheFolder) {
  const fs::path folder = cross_validate(cv_request({})).folder;
  const FolderLock lock(folder);
  const auto messages = on_ranks(2, [&](const launch::Environment& environment) {
    CrossValidationRequest request = cv_request(environment);
    request.overrides.clear();
    request.num_folds = 0;
    request.resume = folder;
    return test::message_of(ErrorKind::kFileSystem, [&] { cross_validate(request); });
  });
  EXPECT_EQ(messages[0],
            folder.string() + ": another process is using this folder; wait until it has finished");
  EXPECT_EQ(messages[1], "rank 0 cannot open the folder of the runs; see its message");
}

TEST_F(SharedSeriesTest, ProcessesThatAreNotDistributedDoNotShare) {
  CrossValidationRequest request = cv_request(environment_of_rank(1, 2));
  request.overrides.push_back({"distributed.enabled", "off", "--set"});
  const CrossValidationReport report = cross_validate(request);
  EXPECT_TRUE(report.is_collected);
  EXPECT_EQ(report.results.size(), 5U);
}

}  // namespace
}  // namespace trainer::experiments
