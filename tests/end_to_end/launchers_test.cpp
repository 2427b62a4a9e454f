// SPDX-License-Identifier: Apache-2.0
// Runs of several processes under the launchers that are installed.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/compare.h"

#include "support/metrics_records.h"
#include "support/process.h"
#include "support/processes.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

/// How a launcher starts a program several times.
struct LauncherCase {
  const char* name;
  const char* program;  // skipped if it is not there
  std::string command;  // before the program; {} is a free port
};

class LauncherTest : public testing::TestWithParam<LauncherCase> {};

TEST_P(LauncherTest, MakesTheRunOfOneProcess) {
  const LauncherCase& launcher = GetParam();
  if (test::run_process(std::string("command -v ") + launcher.program).exit_code != 0) {
    GTEST_SKIP() << launcher.program << " is not installed";
  }
  // As torchrun finds no address then.
  if (test::run_process("getent hosts $(hostname)").exit_code != 0) {
    GTEST_SKIP() << "needs the name of this machine in /etc/hosts";
  }
  const test::TemporaryFolder folder;
  const std::string run =
      "-q threads=1 data.synthetic.num_samples=300 training.batch_size=30 model.norm=batch "
      "--epochs 3 "
      "distributed.shards=4 distributed.start_timeout=300 ";
  ASSERT_EQ(test::trainer_in(folder.path(), run + "--output-dir one").exit_code, 0);
  const test::ProcessResult result = test::run_process(fmt::format(
      "cd {} && timeout -s KILL 300 {} {} {} --output-dir several", folder.path().string(),
      fmt::format(fmt::runtime(launcher.command), test::free_port()), test::kTrainer, run));
  ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
  const fs::path one = folder.path() / "one/latest";
  const fs::path several = folder.path() / "several/latest";
  EXPECT_TRUE(fs::exists(several / "rank_1.log"));
  EXPECT_EQ(test::timeless_lines(several / "metrics.jsonl"),
            test::timeless_lines(one / "metrics.jsonl"));
  const auto difference =
      checkpoint::first_difference(checkpoint::read(several / "checkpoints/last.pt"),
                                   checkpoint::read(one / "checkpoints/last.pt"));
  EXPECT_EQ(difference.value_or(""), "");
}

INSTANTIATE_TEST_SUITE_P(
    Launchers, LauncherTest,
    testing::Values(LauncherCase{"OpenMpi", "mpirun.openmpi",
                                 "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                                 "mpirun.openmpi --oversubscribe -n 3"},
                    LauncherCase{"Mpich", "mpiexec.hydra", "mpiexec.hydra -n 2"},
                    // Debian 12's fails without -r and -t, on a change of Python 3.11; Debian 13's
                    // with a store of its own, as it is built without libuv.
                    LauncherCase{
                        "Torchrun", "/usr/bin/torchrun",
                        "env TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 /usr/bin/torchrun -r 9:1 -t 9:1 "
                        "--rdzv_backend c10d --rdzv_conf store_type=file --rdzv_endpoint ./rdzv "
                        "--rdzv_id {} --monitor_interval 0.1 --nproc_per_node 2 "
                        "--no_python"}),
    [](const auto& launcher) { return launcher.param.name; });

}  // namespace
}  // namespace trainer
