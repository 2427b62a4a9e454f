// SPDX-License-Identifier: Apache-2.0
// What the processes of a run do when one of them cannot go on.
#include <signal.h>

#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/comes_true.h"
#include "support/files.h"
#include "support/metrics_records.h"
#include "support/processes.h"
#include "support/sanitizers.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::Processes;
using test::ProcessResult;

const std::string kEndless =
    "-q threads=1 data.synthetic.num_samples=300 training.batch_size=30 logging.save_interval=1 "
    "distributed.shards=4 distributed.start_timeout=300 training.schedule.name=constant "
    "--epochs 1000000 ";

void wait_for_records(const fs::path& run) {
  const auto has_some = [&] {
    return fs::exists(run / "metrics.jsonl") &&
           test::metrics_records(run / "metrics.jsonl").size() > 5;
  };
  ASSERT_TRUE(test::comes_true(has_some));
}

TEST(ProcessFaultsTest, OneThatHangsIsLostAfterTheTimeout) {
  const test::TemporaryFolder folder;
  Processes run(folder.path(), 3, kEndless + "distributed.timeout=5");
  wait_for_records(folder.path() / "runs/latest");
  run.rank(1).send(SIGSTOP);
  const ProcessResult first = run.rank(0).finish();
  const ProcessResult third = run.rank(2).finish();
  EXPECT_EQ(first.exit_code, 9);
  EXPECT_EQ(third.exit_code, 9);
  EXPECT_TRUE(first.err.starts_with("error: lost rank 1 (")) << first.err;
  EXPECT_TRUE(third.err.starts_with("[rank 2] error: lost rank 1 (")) << third.err;
  EXPECT_NE(first.err.find("can be resumed, with any number of processes ("), std::string::npos);
  // The first of them that gives up says why; to the other a process has ended then.
  const std::string both = first.err + third.err;
  EXPECT_NE(both.find(" (no answer within 5.0 s)\n"), std::string::npos) << both;
  // When it goes on it finds nobody.
  run.rank(1).send(SIGCONT);
  const ProcessResult second = run.rank(1).finish();
  EXPECT_EQ(second.exit_code, 9) << second.err;
  EXPECT_TRUE(second.err.starts_with("[rank 1] error: lost rank ")) << second.err;
}

TEST(ProcessFaultsTest, AFullDiskOfTheFirstEndsAllWithItsMessage) {
  const test::TemporaryFolder folder;
  Processes run(folder.path(), 2, kEndless + "model.hidden_sizes=[64]", {}, {"ulimit -f 50;"});
  const std::vector<ProcessResult> results = run.finish();
  EXPECT_EQ(results[0].exit_code, 8);
  EXPECT_NE(results[0].err.find("runs/"), std::string::npos) << results[0].err;
  EXPECT_EQ(results[1].exit_code, 9);
  EXPECT_TRUE(results[1].err.starts_with("[rank 1] error: lost rank 0 (")) << results[1].err;
  // The message of rank 0, without its last word "error: " and line break.
  const std::string why = results[0].err.substr(results[0].err.find("error: ") + 7);
  EXPECT_NE(results[1].err.find("which ended with: " + why.substr(0, why.size() - 1)),
            std::string::npos)
      << results[0].err << results[1].err;
}

TEST(ProcessFaultsTest, WithoutMemoryForItsDataOneEndsAll) {
  if (test::kHasAddressSanitizer) GTEST_SKIP() << "AddressSanitizer takes all addresses";
  const test::TemporaryFolder folder;
  const std::string kibibytes = std::to_string(1300 * 1024);
  Processes run(folder.path(), 2,
                "-q threads=1 data.synthetic.num_samples=1000 distributed.start_timeout=300",
                {"", "data.synthetic.num_samples=20000000 data.synthetic.num_features=80"},
                {"", "ulimit -v " + kibibytes + ";"});
  const std::vector<ProcessResult> results = run.finish();
  EXPECT_EQ(results[1].exit_code, 5);
  EXPECT_EQ(results[1].err,
            "[rank 1] error: out of memory; use a smaller model, batch size or data file\n");
  EXPECT_EQ(results[0].exit_code, 9);
  EXPECT_TRUE(results[0].err.starts_with("error: lost rank 1 (")) << results[0].err;
  EXPECT_NE(results[0].err.find("), which ended with: out of memory; the run ends here ("),
            std::string::npos)
      << results[0].err;
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
}

TEST(ProcessFaultsTest, IncompleteVariablesAreAnErrorBeforeAnythingIsWritten) {
  const test::TemporaryFolder folder;
  struct Case {
    const char* variables;
    const char* message;
  };
  for (const Case& c : {
           Case{"WORLD_SIZE=2", "WORLD_SIZE is set, but RANK is not"},
           Case{"RANK=0 WORLD_SIZE=2", "MASTER_ADDR"},
           Case{"RANK=0 WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 "
                "OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=3",
                "RANK and WORLD_SIZE say process 0 of 2, but mpirun (Open MPI) says 1 of 3"},
       }) {
    const ProcessResult result = test::trainer_in(folder.path(), "-q --epochs 1", c.variables);
    EXPECT_EQ(result.exit_code, 4) << c.variables << result.err;
    EXPECT_NE(result.err.find(c.message), std::string::npos) << c.variables << result.err;
    EXPECT_FALSE(fs::exists(folder.path() / "runs"));
  }
}

TEST(ProcessFaultsTest, NcclNeedsCudaDevices) {
  const test::TemporaryFolder folder;
  Processes run(folder.path(), 2, "-q device=cpu distributed.backend=nccl");
  for (const ProcessResult& result : run.finish()) {
    EXPECT_EQ(result.exit_code, 4);
    EXPECT_NE(result.err.find("error: distributed.backend: nccl connects CUDA devices, and this "
                              "process trains on cpu; use auto\n"),
              std::string::npos)
        << result.err;
  }
}

TEST(ProcessFaultsTest, TorchrunIsToldWhy) {
  const test::TemporaryFolder folder;
  const fs::path file = folder.path() / "error.json";
  const ProcessResult result =
      test::trainer_in(folder.path(), "--lr x", "TORCHELASTIC_ERROR_FILE=" + file.string());
  EXPECT_EQ(result.exit_code, 2);
  const Json message = parse_json(test::read_file(file))["message"];
  EXPECT_EQ("error: " + message["message"].get<std::string>() + "\n", result.err);
  EXPECT_GT(std::stoll(message["extraInfo"]["timestamp"].get<std::string>()), 0);
}

}  // namespace
}  // namespace trainer
