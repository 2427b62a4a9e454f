// SPDX-License-Identifier: Apache-2.0
// Runs under Slurm: a cluster of two nodes, both this machine, and the job of docs/distributed.md.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/compare.h"

#include "support/comes_true.h"
#include "support/files.h"
#include "support/metrics_records.h"
#include "support/process.h"
#include "support/processes.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::comes_true;
using test::ProcessResult;

/// Two nodes, which end with the scope, and all jobs with them.
class SlurmCluster {
 public:
  /// Why there can be none here; empty if there can.
  static std::string problem() {
    if (geteuid() != 0) return "a Slurm cluster needs root";
    for (const char* program : {"slurmctld", "slurmd", "srun", "sbatch", "munged"}) {
      if (test::run_process(fmt::format("command -v {}", program)).exit_code != 0) {
        return fmt::format("{} is not installed", program);
      }
    }
    const ProcessResult result = test::run_process("unshare --pid --fork --mount-proc true");
    return result.exit_code == 0 ? "" : "cannot make namespaces: " + result.err;
  }

  explicit SlurmCluster(const fs::path& folder) : folder_(folder) {
    fs::create_directory(folder);
    // The shell stays, so that there is a sign of the end too.
    const std::string command = fmt::format(
        "unshare --pid --fork --kill-child --mount-proc bash {}/tests/support/slurm_cluster.sh "
        "{} {} {} {} >{}/output 2>&1; touch {}/ended",
        test::kSource.string(), folder.string(), test::free_port(), test::free_port(),
        test::free_port(), folder.string(), folder.string());
    input_ = popen(command.c_str(), "we");
    comes_true([&] { return fs::exists(folder_ / "ready") || fs::exists(folder_ / "ended"); });
  }
  ~SlurmCluster() {
    if (input_ != nullptr) pclose(input_);  // its input ends, so it does; waits for that
  }
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  bool is_ready() const { return fs::exists(folder_ / "ready"); }
  std::string output() const { return test::read_file(folder_ / "output"); }

  /// Runs a command such as srun in `folder`, with `trainer` in its PATH.
  ProcessResult run(const fs::path& folder, const std::string& command) const {
    return test::run_process(fmt::format(
        "cd {} && PATH={}:$PATH SLURM_CONF={}/slurm.conf timeout -s KILL 300 {} </dev/null",
        folder.string(), fs::path(test::kTrainer).parent_path().string(), folder_.string(),
        command));
  }

 private:
  fs::path folder_;
  FILE* input_ = nullptr;
};

class SlurmTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string problem = SlurmCluster::problem();
    if (!problem.empty()) GTEST_SKIP() << problem;
    // Another program may take a port in the moment between the search and its use.
    constexpr int kMaxAttempts = 3;
    for (int i = 0; i < kMaxAttempts && (!cluster_ || !cluster_->is_ready()); ++i) {
      cluster_ = std::make_unique<SlurmCluster>(in_folder(fmt::format("cluster_{}", i)));
    }
    ASSERT_TRUE(cluster_->is_ready()) << cluster_->output();
  }

  fs::path in_folder(const std::string& name) const { return folder_.path() / name; }

  ProcessResult run(const std::string& command) const {
    return cluster_->run(folder_.path(), command);
  }

  // Weights, optimizer state, metrics and the state of the run.
  void expect_same_bits(const std::string& a, const std::string& b) const {
    const auto read = [&](const std::string& runs) {
      return checkpoint::read(in_folder(runs + "/latest/checkpoints/last.pt"));
    };
    EXPECT_EQ(test::timeless_lines(in_folder(a + "/latest/metrics.jsonl")),
              test::timeless_lines(in_folder(b + "/latest/metrics.jsonl")));
    EXPECT_EQ(checkpoint::first_difference(read(a), read(b)).value_or(""), "");
  }

  void write_config(int64_t epochs) const {
    folder_.write("train.yaml", fmt::format(R"(threads: 1
data: {{synthetic: {{num_samples: 300}}}}
model: {{hidden_sizes: [16, 16], norm: batch, dropout: 0.2}}
training: {{batch_size: 30, epochs: {}, schedule: {{name: constant}}}}
checkpoint: {{every_steps: 7}}
logging: {{save_interval: 1}}
distributed: {{shards: 4, start_timeout: 300}}
)",
                                            epochs));
  }

  // The job of docs/distributed.md. With -x the shell writes the exit code of srun into the output
  // of the job. Two processes are enough; the options of sbatch win over those in the script.
  void submit_job() {
    const std::string text = test::read_file(test::kSource / "docs/distributed.md");
    const std::string begin = "#!/bin/bash";
    const std::size_t first = text.find(begin + "\n#SBATCH");
    ASSERT_NE(first, std::string::npos);
    const std::string script = text.substr(first, text.find("```", first) - first);
    folder_.write("job.sh", begin + " -x" + script.substr(begin.size()));
    const ProcessResult result =
        run("sbatch --parsable --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 job.sh");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    job_ = result.out.substr(0, result.out.find('\n'));
  }

  std::string job_output() const {
    return test::read_file(in_folder(fmt::format("slurm-{}.out", job_)));
  }

  bool job_shows(const std::string& field) const {
    return run("scontrol --oneliner show job " + job_).out.find(field) != std::string::npos;
  }

  bool has_records() const {
    const fs::path file = in_folder("runs/latest/metrics.jsonl");
    return fs::exists(file) && test::metrics_records(file).size() > 12;
  }

  // Starts the job, lets `interrupt` act on the run, and returns when the job is queued again. It
  // stays in the queue, so that no run is too fast or too slow to be interrupted: its end is set
  // only then.
  void start_and_interrupt(const std::function<void()>& interrupt) {
    write_config(1000000);
    submit_job();
    ASSERT_TRUE(comes_true([&] { return has_records(); })) << job_output();
    ASSERT_EQ(run("scontrol update PartitionName=main State=DOWN").exit_code, 0);
    interrupt();
    ASSERT_TRUE(comes_true([&] { return job_shows("JobState=PENDING"); })) << job_output();
    EXPECT_TRUE(job_shows(" Restarts=1 "));
  }

  // The job resumes the run, and makes what one process does that nothing disturbs.
  void expect_job_completes() const {
    const auto last = test::metrics_records(in_folder("runs/latest/metrics.jsonl")).back();
    write_config(last["epoch"].get<int64_t>() + 2);
    ASSERT_EQ(run("scontrol update PartitionName=main State=UP").exit_code, 0);
    ASSERT_TRUE(comes_true([&] { return job_shows("JobState=COMPLETED"); })) << job_output();
    const ProcessResult whole =
        test::trainer_in(folder_.path(), "-q --config train.yaml --output-dir whole");
    ASSERT_EQ(whole.exit_code, 0) << whole.err;
    expect_same_bits("whole", "runs");
  }

  // The process that has this rank in the job.
  std::optional<pid_t> find_rank(int64_t rank) const {
    const std::string variable = fmt::format("SLURM_PROCID={}", rank);
    std::error_code problem;  // of processes that have just ended
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename().string();
      if (name.find_first_not_of("0123456789") != std::string::npos) continue;
      if (!fs::equivalent(entry.path() / "exe", test::kTrainer, problem)) continue;
      if (!fs::equivalent(entry.path() / "cwd", folder_.path(), problem)) continue;
      const auto variables = test::split(test::read_file(entry.path() / "environ"), '\0');
      if (std::count(variables.begin(), variables.end(), variable) == 1) return std::stoi(name);
    }
    return std::nullopt;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<SlurmCluster> cluster_;
  std::string job_;
};

TEST_F(SlurmTest, SrunMakesTheRunOfOneProcess) {
  const std::string arguments =
      "-q threads=1 data.synthetic.num_samples=300 training.batch_size=30 model.norm=batch "
      "--epochs 3 distributed.shards=4 distributed.start_timeout=300 --output-dir ";
  ASSERT_EQ(test::trainer_in(folder_.path(), arguments + "one").exit_code, 0);
  for (const char* mpi : {"none", "pmi2"}) {
    for (const int nodes : {1, 2}) {
      const std::string name = fmt::format("{}_{}", mpi, nodes);
      SCOPED_TRACE(name);
      const ProcessResult result = run(fmt::format(
          "srun --quiet --nodes={} --ntasks=2 --mpi={} trainer {}{}", nodes, mpi, arguments, name));
      ASSERT_EQ(result.exit_code, 0) << result.out << result.err;
      EXPECT_EQ(result.err, "");
      EXPECT_TRUE(fs::exists(in_folder(name + "/latest/rank_1.log")));
      // Nothing is left of what the processes found each other by.
      EXPECT_EQ(test::file_names(in_folder(name)).size(), 2U);
      expect_same_bits("one", name);
    }
  }
}

TEST_F(SlurmTest, TheDocumentedJobIsSavedAtSigtermAndResumesWhenQueuedAgain) {
  // As Slurm sends it before the time limit: to the processes, not to the script.
  start_and_interrupt(
      [&] { EXPECT_EQ(run(fmt::format("scancel --signal=TERM {}.0", job_)).exit_code, 0); });
  if (HasFatalFailure()) return;
  EXPECT_NE(job_output().find("\n+ code=143\n"), std::string::npos) << job_output();
  expect_job_completes();
}

TEST_F(SlurmTest, TheDocumentedJobIsQueuedAgainWhenAProcessIsKilled) {
  start_and_interrupt([&] {
    const std::optional<pid_t> rank = find_rank(1);
    ASSERT_TRUE(rank.has_value());
    EXPECT_EQ(kill(*rank, SIGKILL), 0);
  });
  if (HasFatalFailure()) return;
  const std::string output = job_output();
  EXPECT_TRUE(output.find("\n+ code=9\n") != std::string::npos ||
              output.find("\n+ code=137\n") != std::string::npos)
      << output;
  EXPECT_NE(output.find("error: lost rank 1 ("), std::string::npos) << output;
  expect_job_completes();
}

}  // namespace
}  // namespace trainer
