// SPDX-License-Identifier: Apache-2.0
// Runs on two machines, with a network between them that is whole, slow or cut.
#include "support/two_machines.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trainer/base/text/json.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/compare.h"

#include "support/comes_true.h"
#include "support/files.h"
#include "support/metrics_records.h"
#include "support/process.h"
#include "support/running_program.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;
using Programs = std::vector<std::unique_ptr<test::RunningProgram>>;

class TwoMachinesTest : public testing::Test {
 protected:
  // Batch norm and dropout: statistics and noise are those of the whole batch.
  inline static const std::string kArguments =
      "-q threads=1 data.synthetic.num_samples=300 training.batch_size=30 model.norm=batch "
      "model.dropout=0.2 training.schedule.name=constant logging.save_interval=1 "
      "distributed.shards=4 distributed.start_timeout=300 distributed.timeout=5 ";

  void SetUp() override {
    const std::string problem = test::Machine::problem();
    if (!problem.empty()) GTEST_SKIP() << problem;
    machines_ = std::make_unique<test::TwoMachines>();
  }

  fs::path in_folder(const std::string& name) const { return folder_.path() / name; }

  Programs start(const test::TwoMachines& machines, int64_t size,
                 const std::string& arguments) const {
    return machines.start(size, folder_.path(), kArguments + arguments);
  }

  static std::vector<ProcessResult> finish(const Programs& programs) {
    std::vector<ProcessResult> results;
    for (const auto& program : programs) results.push_back(program->finish());
    return results;
  }

  static void expect_success(const std::vector<ProcessResult>& results) {
    for (const ProcessResult& result : results) {
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_EQ(result.err, "");
    }
  }

  // Weights, optimizer state, metrics and the state of the run.
  void expect_same_bits(const std::string& a, const std::string& b) const {
    const auto read = [&](const std::string& run) {
      return checkpoint::read(in_folder(run + "/latest/checkpoints/last.pt"));
    };
    EXPECT_EQ(test::timeless_lines(in_folder(a + "/latest/metrics.jsonl")),
              test::timeless_lines(in_folder(b + "/latest/metrics.jsonl")));
    EXPECT_EQ(checkpoint::first_difference(read(a), read(b)).value_or(""), "");
  }

  void train_alone(const std::string& arguments) const {
    const ProcessResult result = test::trainer_in(folder_.path(), "-q " + arguments);
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  // A run that ended too early, resumed by one process, against one that nothing disturbed.
  void expect_one_process_completes(const std::string& run) const {
    const std::vector<Json> records = records_of(run);
    ASSERT_FALSE(records.empty());
    const int64_t epochs = records.back()["epoch"].get<int64_t>() + 2;
    train_alone(fmt::format("--resume {}/latest --epochs {}", run, epochs));
    train_alone(fmt::format("{} --epochs {} --output-dir whole_{}", kArguments, epochs, run));
    expect_same_bits("whole_" + run, run);
  }

  void expect_lost(const Programs& programs) const {
    const std::vector<ProcessResult> results = finish(programs);
    const std::size_t middle = results.size() / 2;  // the first rank of the second machine
    const std::string right = middle == 1 ? "rank 1 (right)" : "rank 2 (right) and rank 3 (right)";
    for (std::size_t rank = 0; rank < results.size(); ++rank) {
      const std::string& message = results[rank].err;
      // Without rank 0 nobody can say who else is lost.
      const std::string other = rank < middle ? right : "rank 0 (left)";
      EXPECT_EQ(results[rank].exit_code, 9) << message;
      EXPECT_NE(message.find(fmt::format("error: lost {};", other)), std::string::npos) << message;
    }
  }

  std::vector<Json> records_of(const std::string& run) const {
    const fs::path file = in_folder(run + "/latest/metrics.jsonl");
    return fs::exists(file) ? test::metrics_records(file) : std::vector<Json>();
  }

  bool writes_records(const std::string& run, std::size_t count) const {
    return test::comes_true([&] { return records_of(run).size() >= count; });
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<test::TwoMachines> machines_;
};

// The host name of each leads to 127.0.1.1, and not to the interface on the way to the other
// machine: that one is found without GLOO_SOCKET_IFNAME.
TEST_F(TwoMachinesTest, MakeTheRunOfOneProcess) {
  const ProcessResult own = test::run_process(
      fmt::format("timeout 100 {} getent hosts left", machines_->machine(0).entering()));
  ASSERT_TRUE(own.out.starts_with("127.0.1.1 ")) << own.out << own.err;
  train_alone(kArguments + "--epochs 3 --output-dir one");
  struct Case {
    int64_t size;
    const char* transport;
  };
  for (const Case& c : {Case{2, "Gloo"}, Case{4, "shared memory, Gloo between machines"}}) {
    const std::string name = fmt::format("of_{}", c.size);
    expect_success(finish(start(*machines_, c.size, "--epochs 3 --output-dir " + name)));
    expect_same_bits("one", name);
    const std::string log = test::read_file(in_folder(name + "/latest/train.log"));
    EXPECT_NE(log.find(fmt::format("{}, started by RANK and WORLD_SIZE: this is rank 0; {}; 4 "
                                   "shards of a batch\n",
                                   c.size, c.transport)),
              std::string::npos)
        << log;
  }
}

TEST_F(TwoMachinesTest, LoseEachOtherAndOneProcessCompletesTheRun) {
  const test::TwoMachines others;  // at the same time, as it takes its time
  const Programs two = start(*machines_, 2, "--epochs 100000 --output-dir two");
  const Programs four = start(others, 4, "--epochs 100000 --output-dir four");
  ASSERT_TRUE(writes_records("two", 5) && writes_records("four", 5));
  machines_->cut();
  others.cut();
  expect_lost(two);
  expect_lost(four);
  expect_one_process_completes("two");
  expect_one_process_completes("four");
}

TEST_F(TwoMachinesTest, AreNotLostWhereTheNetworkIsSlow) {
  // 100 kB of gradients: 40 ms a step at this rate.
  const std::string arguments = "--epochs 20 model.hidden_sizes=[150,150] ";
  train_alone(kArguments + arguments + "--output-dir one");
  machines_->slow_down("20mbit");
  expect_success(finish(start(*machines_, 2, arguments + "--output-dir slow")));
  expect_same_bits("one", "slow");
  double seconds = 0;
  for (const Json& record : records_of("slow")) {
    seconds += record.value("communication_seconds", 0.0);
  }
  EXPECT_GT(seconds, 5);  // distributed.timeout
}

TEST_F(TwoMachinesTest, TellASecondJobThatItsAddressIsTaken) {
  machines_->slow_down("20mbit");  // the first one has few epochs to repeat
  const Programs first = start(*machines_, 2, "--epochs 100000 --output-dir first");
  ASSERT_TRUE(writes_records("first", 1));
  const std::vector<ProcessResult> second =
      finish(start(*machines_, 2, "--epochs 1 --output-dir second"));
  for (const ProcessResult& result : second) EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_EQ(second[0].err,
            "error: rank 0 cannot listen on port 29500: another program uses it; choose another "
            "MASTER_PORT\n");
  EXPECT_EQ(second[1].err,
            "[rank 1] error: 10.77.0.1:29500: rank 1 is there twice; two jobs use this address, so "
            "set another MASTER_PORT for one of them\n");
  EXPECT_FALSE(fs::exists(in_folder("second")));
  // The first one trains on.
  EXPECT_TRUE(writes_records("first", records_of("first").size() + 5));
  machines_->machine(0).terminate_programs();
  for (const ProcessResult& result : finish(first)) EXPECT_EQ(result.exit_code, 143) << result.err;
  expect_one_process_completes("first");
}

}  // namespace
}  // namespace trainer
