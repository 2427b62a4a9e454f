// SPDX-License-Identifier: Apache-2.0
// Runs of several processes of the real program, which find each other by MASTER_ADDR.
#include "support/processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/launch/addresses.h"
#include "trainer/run/checkpoint/checkpoint.h"
#include "trainer/run/checkpoint/compare.h"

#include "support/comes_true.h"
#include "support/files.h"
#include "support/metrics_records.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::Processes;
using test::ProcessResult;
using test::read_file;
using test::trainer_in;

// Batch norm and dropout: statistics and noise are those of the whole batch.
const std::string kRun =
    "-q threads=1 data.synthetic.num_samples=300 training.batch_size=30 model.hidden_sizes=[16,16] "
    "model.norm=batch model.dropout=0.2 logging.save_interval=1 distributed.shards=4 "
    "distributed.start_timeout=300 ";

void expect_all(const std::vector<ProcessResult>& results, int exit_code) {
  for (const ProcessResult& result : results) EXPECT_EQ(result.exit_code, exit_code) << result.err;
}

// Weights, optimizer state, metrics and the state of the run.
void expect_same_run(const fs::path& a, const fs::path& b) {
  EXPECT_EQ(test::timeless_lines(a / "metrics.jsonl"), test::timeless_lines(b / "metrics.jsonl"));
  for (const char* name : {"last.pt", "best.pt"}) {
    const auto difference = checkpoint::first_difference(
        checkpoint::read(a / "checkpoints" / name), checkpoint::read(b / "checkpoints" / name));
    EXPECT_EQ(difference.value_or(""), "") << name;
  }
}

void wait_until(const std::function<bool()>& is_so) { ASSERT_TRUE(test::comes_true(is_so)); }

bool has_records(const fs::path& run, std::size_t count) {
  return fs::exists(run / "metrics.jsonl") &&
         test::metrics_records(run / "metrics.jsonl").size() >= count;
}

TEST(ProcessesTest, AnyNumberOfThemMakesTheSameRun) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(trainer_in(folder.path(), kRun + "--epochs 3 --output-dir one").exit_code, 0);
  struct Case {
    int64_t size;
    const char* backend;
  };
  for (const Case& c : {Case{2, "auto"}, Case{3, "auto"}, Case{5, "auto"}, Case{3, "gloo"}}) {
    const std::string name = fmt::format("of_{}_{}", c.size, c.backend);
    Processes run(
        folder.path(), c.size,
        fmt::format("{}--epochs 3 --output-dir {} distributed.backend={}", kRun, name, c.backend));
    const std::vector<ProcessResult> results = run.finish();
    expect_all(results, 0);
    for (const ProcessResult& result : results) EXPECT_EQ(result.err, "");
    expect_same_run(folder.path() / "one/latest", folder.path() / name / "latest");
    EXPECT_TRUE(fs::exists(folder.path() / name / "latest/rank_1.log"));
  }
}

TEST(ProcessesTest, OnlyTheFirstOneSpeaks) {
  const test::TemporaryFolder folder;
  Processes run(folder.path(), 2, kRun.substr(3) + "--epochs 1");
  const std::vector<ProcessResult> results = run.finish();
  expect_all(results, 0);
  EXPECT_NE(
      results[0].err.find("processes   2, started by RANK and WORLD_SIZE: this is rank 0; shared "
                          "memory; 4 shards of a batch\n"),
      std::string::npos)
      << results[0].err;
  EXPECT_NE(results[0].out.find("trained     1 epoch, "), std::string::npos) << results[0].out;
  EXPECT_EQ(results[1].err, "");
  EXPECT_EQ(results[1].out, "");
  EXPECT_NE(read_file(folder.path() / "runs/latest/rank_1.log").find("this is rank 1"),
            std::string::npos);
}

TEST(ProcessesTest, ASignalToOneStopsAllAndAnyNumberResumes) {
  const test::TemporaryFolder folder;
  const std::string arguments = kRun + "training.schedule.name=constant ";
  Processes run(folder.path(), 2, arguments + "--epochs 100000 --output-dir parts");
  const fs::path parts = folder.path() / "parts/latest";
  wait_until([&] { return has_records(parts, 5); });
  run.rank(1).send(SIGTERM);
  expect_all(run.finish(), 143);
  const auto epochs =
      test::metrics_records(parts / "metrics.jsonl").back()["epoch"].get<int64_t>() + 1;
  Processes resumed(folder.path(), 3, fmt::format("-q --resume parts/latest --epochs {}", epochs));
  expect_all(resumed.finish(), 0);
  ASSERT_EQ(
      trainer_in(folder.path(), fmt::format("{} --epochs {} --output-dir whole", arguments, epochs))
          .exit_code,
      0);
  expect_same_run(folder.path() / "whole/latest", parts);
}

TEST(ProcessesTest, OneThatIsKilledIsNamedByTheOthersAndTheRunCanBeResumed) {
  const test::TemporaryFolder folder;
  const std::string arguments = kRun + "training.schedule.name=constant checkpoint.every_steps=7 ";
  struct Case {
    int64_t killed;
    const char* backend;
  };
  for (const auto& [killed, backend] : {Case{0, "auto"}, Case{2, "auto"}, Case{2, "gloo"}}) {
    const std::string name = fmt::format("killed_{}_{}", killed, backend);
    Processes run(folder.path(), 3,
                  fmt::format("{}--epochs 100000 --output-dir {} distributed.backend={}", arguments,
                              name, backend));
    const fs::path parts = folder.path() / name / "latest";
    wait_until([&] { return has_records(parts, 12); });
    run.rank(killed).send(SIGKILL);
    const std::vector<ProcessResult> results = run.finish();
    for (std::size_t r = 0; r < results.size(); ++r) {
      if (static_cast<int64_t>(r) == killed) continue;
      EXPECT_EQ(results[r].exit_code, 9);
      const std::string prefix = r == 0 ? "" : fmt::format("[rank {}] ", r);
      EXPECT_TRUE(
          results[r].err.starts_with(fmt::format("{}error: lost rank {} (", prefix, killed)))
          << results[r].err;
      EXPECT_NE(results[r].err.find("); the run ends here and can be resumed, with any number of "
                                    "processes ("),
                std::string::npos);
    }
    ASSERT_EQ(trainer_in(folder.path(), "-q --resume " + name + "/latest --epochs 40").exit_code,
              0);
    ASSERT_EQ(trainer_in(folder.path(), arguments + "--epochs 40 --output-dir whole").exit_code, 0);
    expect_same_run(folder.path() / "whole/latest", parts);
  }
}

TEST(ProcessesTest, DifferencesAreNamedOnceAndNothingIsWritten) {
  const test::TemporaryFolder folder;
  Processes run(folder.path(), 2, kRun, {"", "--lr 0.5"});
  const std::vector<ProcessResult> results = run.finish();
  expect_all(results, 2);
  const std::string host = results[0].err.substr(15, results[0].err.find(')') - 15);
  EXPECT_EQ(results[0].err,
            fmt::format("error: rank 1 ({}) cannot train the same run:\n"
                        "  training.learning_rate: 0.001 on rank 0, 0.5 here\n"
                        "start all processes with the same program, configuration and files\n",
                        host));
  EXPECT_EQ(results[1].err, "");
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
}

TEST(ProcessesTest, OtherDataIsAnErrorOfTheData) {
  const test::TemporaryFolder folder;
  std::string table = "a,b,y\n";
  for (int i = 0; i < 60; ++i) table += fmt::format("{},{},{}\n", i, i * i % 7, i % 2);
  folder.write("rank_0/table.csv", table);
  folder.write("rank_1/table.csv", table + "60,1,0\n");
  const fs::path link = folder.path() / "table.csv";
  fs::create_symlink("rank_0/table.csv", link);
  // A file that has changed between the starts of two processes.
  const int port = test::free_port();
  const std::string run = "-q data.source=csv data.path=table.csv data.target=y data.cache=off";
  test::RunningProgram first(folder.path(), run, test::Moments::kPassed,
                             test::variables_of_rank(0, 2, port));
  test::RunningProgram second(folder.path(), run, test::Moments::kPassed,
                              "cd rank_1; " + test::variables_of_rank(1, 2, port));
  const ProcessResult result = first.finish();
  EXPECT_EQ(second.finish().exit_code, 2);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("data.path: "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("  table.csv: 416 bytes, CRC-32 0dcdc81e on rank 0, 423 bytes, CRC-32 "
                            "3972faee here\n"),
            std::string::npos)
      << result.err;
}

TEST(ProcessesTest, OneThatNeverComesIsNamed) {
  const test::TemporaryFolder folder;
  const std::string before = test::variables_of_rank(0, 2, test::free_port());
  test::RunningProgram first(folder.path(), kRun + "distributed.start_timeout=0.5",
                             test::Moments::kPassed, before);
  const ProcessResult result = first.finish();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err,
            "error: rank 1 of 2 did not come within 0.5 s (distributed.start_timeout); see the "
            "output of its machine\n");
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
}

TEST(ProcessesTest, WithoutTheFirstOneTheAddressIsNamed) {
  const test::TemporaryFolder folder;
  const int port = test::free_port();
  test::RunningProgram second(folder.path(), kRun + "distributed.start_timeout=1",
                              test::Moments::kPassed, test::variables_of_rank(1, 2, port));
  const ProcessResult result = second.finish();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(result.err.starts_with(
      fmt::format("[rank 1] error: 127.0.0.1:{}: expected the store of rank 0 there, got ", port)))
      << result.err;
  EXPECT_TRUE(result.err.ends_with(
      "; check MASTER_ADDR and MASTER_PORT, and that no other job uses them\n"))
      << result.err;
}

// As rank 0 does that is killed before it has answered: connections that wait for it are reset.
TEST(ProcessesTest, AStoreThatIsGoneBeforeItAnswersIsNamed) {
  const test::TemporaryFolder folder;
  const int port = test::free_port();
  launch::Socket listener = launch::listen_at({"127.0.0.1", port, launch::Door::kUser});
  test::RunningProgram second(folder.path(), kRun + "distributed.start_timeout=300",
                              test::Moments::kPassed, test::variables_of_rank(1, 2, port));
  ASSERT_TRUE(launch::wait_for_events(listener.get(), POLLIN, std::chrono::milliseconds(300'000)));
  listener = launch::Socket();
  const ProcessResult result = second.finish();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err,
            fmt::format("[rank 1] error: 127.0.0.1:{}: expected the store of rank 0 there, got "
                        "Connection refused; check MASTER_ADDR and MASTER_PORT, and that no other "
                        "job uses them\n",
                        port));
}

/// What is set where the ranks may be on several machines.
std::string variables_of_far_rank(int64_t rank, int port, const std::string& token) {
  return fmt::format(
      "export RANK={} WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT={} "
      "TRAINER_RENDEZVOUS_TOKEN={};",
      rank, port, token);
}

TEST(ProcessesTest, StrangersAtThePortOfTheFirstOneDelayAndChangeNothing) {
  const test::TemporaryFolder folder;
  const std::string run = kRun + "--epochs 3 distributed.backend=gloo --output-dir ";
  ASSERT_EQ(trainer_in(folder.path(), run + "one").exit_code, 0);
  const int port = test::free_port();
  test::RunningProgram first(folder.path(), run + "two", test::Moments::kPassed,
                             variables_of_far_rank(0, port, "secret"));
  std::vector<launch::Socket> strangers;
  const auto connect = [&](const std::string& bytes) {
    launch::Socket socket;
    wait_until([&] {
      socket = launch::connect_to({"127.0.0.1", port}, std::chrono::milliseconds(1000));
      return socket.is_open();
    });
    ASSERT_EQ(send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
    strangers.push_back(std::move(socket));
  };
  for (int i = 0; i < 100; ++i) connect("");
  connect("\x02");
  connect("GET / HTTP/1.1\r\n\r\n");
  // c10d's ADD to the arrivals of rank 1.
  connect(std::string("\x03\x11\0\0\0\0\0\0\0", 9) + "trainer/arrived/1" +
          std::string("\x01\0\0\0\0\0\0\0", 8));
  // With a token of its own.
  test::RunningProgram other(folder.path(), run + "other", test::Moments::kPassed,
                             variables_of_far_rank(1, port, "guessed"));
  EXPECT_EQ(other.finish().err,
            fmt::format("[rank 1] error: localhost:{}: expected the store of rank 0 there, got a "
                        "store that refuses this process, as it has another token; check "
                        "MASTER_ADDR and MASTER_PORT, and that no other job uses them\n",
                        port));
  test::RunningProgram second(folder.path(), run + "two", test::Moments::kPassed,
                              variables_of_far_rank(1, port, "secret"));
  const std::vector<ProcessResult> results = {first.finish(), second.finish()};
  expect_all(results, 0);
  for (const ProcessResult& result : results) EXPECT_EQ(result.err, "");
  expect_same_run(folder.path() / "one/latest", folder.path() / "two/latest");
}

TEST(ProcessesTest, WithoutATokenTheFirstOneWarns) {
  const test::TemporaryFolder folder;
  const int port = test::free_port();
  test::RunningProgram first(folder.path(), kRun + "--epochs 1", test::Moments::kPassed,
                             variables_of_far_rank(0, port, ""));
  test::RunningProgram second(folder.path(), kRun + "--epochs 1", test::Moments::kPassed,
                              variables_of_far_rank(1, port, ""));
  const std::vector<ProcessResult> results = {first.finish(), second.finish()};
  expect_all(results, 0);
  EXPECT_EQ(results[0].err,
            fmt::format("warning: localhost:{}: every program that reaches this port can disturb "
                        "the run, as no token is set; set TRAINER_RENDEZVOUS_TOKEN, the same for "
                        "all processes, unless the network is trusted\n",
                        port));
  EXPECT_EQ(results[1].err, "");
}

TEST(ProcessesTest, AFirstOneThatHasNotTheAddressSaysSo) {
  const test::TemporaryFolder folder;
  const std::string variables = "export RANK=0 WORLD_SIZE=2 MASTER_ADDR=no.invalid MASTER_PORT=" +
                                std::to_string(test::free_port()) + ";";
  test::RunningProgram first(folder.path(), kRun + "distributed.start_timeout=0.5",
                             test::Moments::kPassed, variables);
  const ProcessResult result = first.finish();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(result.err.starts_with("error: rank 0 runs on ")) << result.err;
  EXPECT_NE(result.err.find(" (no machine of this name); set MASTER_ADDR to an address of this "
                            "machine"),
            std::string::npos)
      << result.err;
}

TEST(ProcessesTest, OneThatWaitsForALongTimeSaysForWhomAndHowToTrainAlone) {
  const test::TemporaryFolder folder;
  test::RunningProgram first(folder.path(), kRun.substr(3) + "distributed.start_timeout=100",
                             test::Moments::kPassed,
                             test::variables_of_rank(0, 2, test::free_port()) + " exec 2>err;");
  wait_until([&] {
    return fs::exists(folder.path() / "err") &&
           read_file(folder.path() / "err").find('\n') != std::string::npos;
  });
  EXPECT_EQ(read_file(folder.path() / "err"),
            "rank 0 of 2 (RANK and WORLD_SIZE) waits for rank 1, for up to 1 min 40 s; to train by "
            "itself, set distributed.enabled=off\n");
  first.send(SIGKILL);
}

TEST(ProcessesTest, ARankThatIsThereTwiceIsNamed) {
  const test::TemporaryFolder folder;
  const int port = test::free_port();
  test::RunningProgram first(folder.path(), kRun, test::Moments::kPassed,
                             test::variables_of_rank(0, 3, port));
  test::RunningProgram second(folder.path(), kRun, test::Moments::kPassed,
                              test::variables_of_rank(1, 3, port));
  test::RunningProgram twin(folder.path(), kRun, test::Moments::kPassed,
                            test::variables_of_rank(1, 3, port));
  wait_until([&] { return second.has_ended() || twin.has_ended(); });
  first.send(SIGKILL);  // which waits for rank 2, as the other one does
  const std::string a = second.finish().err;
  const std::string b = twin.finish().err;
  const std::string expected = fmt::format(
      "[rank 1] error: 127.0.0.1:{}: rank 1 is there twice; two jobs use this address, so set "
      "another MASTER_PORT for one of them\n",
      port);
  EXPECT_TRUE(a == expected || b == expected) << a << b;
}

// Its rank 0 found the port in use, and has ended.
TEST(ProcessesTest, ARankOfAnotherJobIsNamed) {
  const test::TemporaryFolder folder;
  const int port = test::free_port();
  const auto of_job = [&](const char* job, int rank) {
    return fmt::format(
        "export OMPI_COMM_WORLD_RANK={0} OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK={0} "
        "OMPI_COMM_WORLD_LOCAL_SIZE=2 PMIX_NAMESPACE={1} MASTER_ADDR=127.0.0.1 MASTER_PORT={2};",
        rank, job, port);
  };
  test::RunningProgram first(folder.path(), kRun, test::Moments::kPassed, of_job("one", 0));
  test::RunningProgram other(folder.path(), kRun, test::Moments::kPassed, of_job("two", 1));
  const ProcessResult result = first.finish();
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err,
            fmt::format("error: rank 1 belongs to another job; two jobs use 127.0.0.1:{}, so set "
                        "another MASTER_PORT for one of them\n",
                        port));
  EXPECT_EQ(other.finish().exit_code, 4);
  EXPECT_FALSE(fs::exists(folder.path() / "runs"));
}

TEST(ProcessesTest, AResumeWithOtherShardsIsRefused) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(trainer_in(folder.path(), kRun + "--epochs 1").exit_code, 0);
  const ProcessResult result =
      trainer_in(folder.path(), "-q --resume runs/latest --epochs 2 distributed.shards=2");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_NE(result.err.find("distributed.shards: 4 before, 2 now"), std::string::npos)
      << result.err;
}

TEST(ProcessesTest, EachTrainsByItselfIfThatIsAskedFor) {
  const test::TemporaryFolder folder;
  test::RunningProgram run(folder.path(), kRun + "--epochs 1 distributed.enabled=off",
                           test::Moments::kPassed, "export WORLD_SIZE=2;");
  const ProcessResult result = run.finish();
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

}  // namespace
}  // namespace trainer
