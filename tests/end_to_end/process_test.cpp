// SPDX-License-Identifier: Apache-2.0
// The program and its surroundings: standard streams, limits, variables.
#include "support/process.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "trainer/base/text/json.h"

#include "support/files.h"
#include "support/metrics_records.h"
#include "support/program_test.h"
#include "support/sanitizers.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::kSource;
using test::kTrainer;
using test::ProcessResult;

class ProcessTest : public test::ProgramTest {
 protected:
  ProcessResult in_shell(const std::string& before, const std::string& arguments) const {
    return test::trainer_in_shell(folder_.path(), before, arguments);
  }
};

TEST_F(ProcessTest, StreamsThatAreClosedTakeNothingFromTheFilesOfARun) {
  for (const std::string closed : {"<&- >&- 2>&-", ">&- 2>&-", "<&- 2>&-", "2>&-"}) {
    const ProcessResult result =
        in_shell("", "--epochs 3 --tag x logging.save_interval=1 " + closed);
    EXPECT_EQ(result.exit_code, 0) << closed;
    const fs::path run = folder_.path() / "runs/latest";
    for (const std::string& line : test::lines_of(test::read_file(run / "metrics.jsonl"))) {
      EXPECT_TRUE(Json::accept(line)) << closed << ": " << line;
    }
    int64_t num_epochs = 0;
    for (const std::string& line : test::lines_of(test::read_file(run / "train.log"))) {
      EXPECT_TRUE(line.starts_with("20")) << closed << ": " << line;  // its date
      num_epochs += line.find("/3  loss ") == std::string::npos ? 0 : 1;
    }
    EXPECT_EQ(num_epochs, 3) << closed;
  }
}

#ifdef __linux__
TEST_F(ProcessTest, OutputThatCannotBeWrittenEndsWithEight) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const std::string table = (kSource / "configs/data/penguins.csv").string();
  ASSERT_EQ(trainer("-q --epochs 1").exit_code, 0);
  for (const std::string& arguments :
       {std::string("--help"), std::string("--version"), std::string("config reference"),
        std::string("config schema"), std::string("config print --epochs 2"),
        std::string("config check --epochs 2"), std::string("config schedule --epochs 2"),
        std::string("eval runs/latest"), std::string("eval runs/latest --json"),
        std::string("inspect runs/latest"), std::string("inspect runs/latest --json"),
        std::string("verify runs/latest"), std::string("find-batch --max-batch 1 --threads 1"),
        std::string("export runs/latest --output m.safetensors"), std::string("--epochs 1"),
        "init --output - --target species --data " + table,
        "init --data " + table + " --output - --target species"}) {
    const ProcessResult result = in_shell("", arguments + " >/dev/full");
    EXPECT_EQ(result.exit_code, 8) << arguments;
    EXPECT_TRUE(
        result.err.ends_with("error: cannot write to standard output: No space left on device\n"))
        << arguments << ": " << result.err;
  }
}
#endif

TEST_F(ProcessTest, AReaderThatLeavesEndsTheProgramAsItEndsOthers) {
  const ProcessResult result = test::run_process(
      "sh -c 'cd " + folder_.path().string() + "; mkfifo gone; { read line <gone; " + kTrainer +
      " config reference; echo $? >code; } | { exec <&-; echo >gone; }'");
  const std::string code = test::read_file(folder_.path() / "code");
  if (code == "8\n") {  // where SIGPIPE is ignored
    EXPECT_EQ(result.err, "error: cannot write to standard output: Broken pipe\n");
  } else {
    EXPECT_EQ(code, "141\n");
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(ProcessTest, ANumberOfOpenmpThreadsThatCannotBeIsNamedAndIgnored) {
  for (const std::string wrong : {"100000", "abc", "0", "-1", "1.5", "2,x"}) {
    const ProcessResult result = trainer("-q --epochs 1 --threads 1", "OMP_NUM_THREADS=" + wrong);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err,
              "warning: OMP_NUM_THREADS: expected a number of threads from 1 to 1024, got \"" +
                  wrong + "\"; ignoring it\n");
  }
  for (const std::string right : {"", "2", "2,1", "\" 2 , 1\""}) {
    const ProcessResult result = trainer("-q --epochs 1", "OMP_NUM_THREADS=" + right);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "") << right;
    const auto system = parse_json(test::read_file(folder_.path() / "runs/latest/system.json"));
    const auto& start = system["starts"][0];
    if (!right.empty() && start["device"] == "cpu") {
      EXPECT_EQ(start["threads"], 2) << right;
      EXPECT_EQ(start["threads_reason"], "OMP_NUM_THREADS") << right;
    }
  }
}

TEST_F(ProcessTest, AStackThatIsTooSmallIsSaid) {
  if (test::kHasAddressSanitizer) GTEST_SKIP() << "AddressSanitizer needs more of it";
  const ProcessResult result = in_shell("ulimit -s 128;", "--version");
  EXPECT_EQ(result.exit_code, 5);
  EXPECT_EQ(result.err,
            "error: the stack limit (ulimit -s) is 128.0 KiB; raise it to at least 512.0 KiB\n");
}

#ifdef __linux__
TEST_F(ProcessTest, AnAddressSpaceThatLibTorchDoesNotFitIntoIsSaid) {
  if (test::kHasAddressSanitizer) GTEST_SKIP() << "AddressSanitizer needs terabytes of it";
  const ProcessResult little = in_shell("ulimit -v $((1024 * 100));", "--epochs 1 --threads 1 -q");
  EXPECT_EQ(little.exit_code, 5);
  EXPECT_EQ(little.err,
            "error: LibTorch needs more than the 100.0 MiB of address space that ulimit -v allows; "
            "raise the limit\n");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  // What some BLAS waits in for ever, when it is loaded or at its first product; another may do
  // with it.
  for (const char* mebibytes : {"600", "900"}) {
    const ProcessResult more = in_shell(std::string("ulimit -v $((1024 * ") + mebibytes + "));",
                                        "--epochs 1 --threads 1 -q");
    EXPECT_TRUE(more.exit_code == 0 || more.exit_code == 5) << more.exit_code << more.err;
  }
}
#endif

TEST_F(ProcessTest, WhatTheSystemRefusesIsSaidInItsWordsAndWithThePath) {
  const ProcessResult temporary = trainer("selftest resume", "TMPDIR=/none");
  EXPECT_EQ(temporary.exit_code, 8);
  EXPECT_TRUE(temporary.err.starts_with(
      "error: TMPDIR: expected a folder for temporary files, got \"/none\": "))
      << temporary.err;
  EXPECT_EQ(trainer("output_dir=").err,
            "error: command line: output_dir: expected a folder, got nothing; use . for the "
            "working directory\n");
  const std::string name(300, 'n');
  const ProcessResult folder = trainer("--epochs 1 --output-dir " + name);
  EXPECT_EQ(folder.exit_code, 8);
  EXPECT_TRUE(folder.err.ends_with(": File name too long; choose another one with --output-dir\n"))
      << folder.err;
  for (const std::string& arguments : {"verify " + name, "inspect " + name, "--resume " + name}) {
    const ProcessResult result = trainer(arguments);
    EXPECT_EQ(result.exit_code, 8) << arguments;
    EXPECT_TRUE(result.err.starts_with("error: " + name)) << result.err;
    EXPECT_TRUE(result.err.ends_with(": File name too long\n")) << result.err;
  }
}

TEST_F(ProcessTest, WhatCannotFitIntoMemoryIsSaidBeforeItIsTried) {
  const ProcessResult model = trainer("--device cpu model.hidden_sizes=[1048576,1048576,1048576]");
  EXPECT_EQ(model.exit_code, 5);
  EXPECT_TRUE(model.err.starts_with("error: a model of 2,199,0")) << model.err;
  EXPECT_TRUE(model.err.ends_with(" of memory; reduce model.hidden_sizes\n")) << model.err;
  const ProcessResult data = trainer(
      "config schedule data.synthetic.num_samples=1000000000 "
      "data.synthetic.num_features=1000000");
  EXPECT_EQ(data.exit_code, 5);
  EXPECT_TRUE(
      data.err.starts_with("error: data.synthetic: a table of 1,000,000,000 rows and 1,000,000 "
                           "features needs 3.6 PiB, but this machine has "))
      << data.err;
}

// Of the 241 training rows, whatever the batch.
TEST_F(ProcessTest, MemoryFollowsTheRowsAndNotTheBatchSize) {
  if (test::kHasAddressSanitizer) GTEST_SKIP() << "AddressSanitizer keeps freed memory";
  const std::string run =
      test::with_config("penguins.yaml") + "-q --threads 1 --epochs 2 --device cpu ";
  const auto peak_bytes = [&](const std::string& more) {
    const ProcessResult result = trainer(run + more);
    EXPECT_EQ(result.exit_code, 0) << more << ": " << result.err;
    int64_t most = 0;
    for (const auto& record : test::metrics_records(folder_.path() / "runs/latest/metrics.jsonl")) {
      most = std::max(most, record.value("peak_memory_bytes", int64_t{0}));
    }
    EXPECT_GT(most, 0);
    return most;
  };
  const int64_t usual = peak_bytes("training.batch_size=241");
  for (const std::string more :
       {"training.batch_size=1000000", "training.batch_size=1000000000",
        "training.batch_size=100000 training.gradient_accumulation_steps=100000",
        "training.batch_size=1000000000 training.gradient_accumulation_steps=1000000000",
        "training.gradient_accumulation_steps=1000000000"}) {
    EXPECT_LT(peak_bytes(more), usual + (int64_t{64} << 20)) << more;
  }
  const ProcessResult schedule =
      trainer("config schedule " + test::with_config("penguins.yaml") +
              "training.batch_size=1000 training.gradient_accumulation_steps=4");
  EXPECT_NE(schedule.out.find("effective batch  241 rows\n"), std::string::npos) << schedule.out;
}

TEST_F(ProcessTest, CountsBeyondAnyMachineAreConfigurationErrors) {
  for (const std::string& arguments :
       {std::string("training.batch_size=3037000500"),
        std::string("training.batch_size=9223372036854775807"),
        std::string("training.batch_size=4611686018427387904"),
        std::string("training.gradient_accumulation_steps=9223372036854775807"),
        std::string("training.epochs=9223372036854775807")}) {
    for (const std::string command : {"config check ", "config schedule ", ""}) {
      const ProcessResult result = trainer(command + arguments);
      EXPECT_EQ(result.exit_code, 2) << command << arguments;
      const std::size_t equals = arguments.find('=');
      EXPECT_EQ(result.err, "error: command line: " + arguments.substr(0, equals) +
                                ": expected an integer >= 1 and <= 1000000000, got \"" +
                                arguments.substr(equals + 1) + "\"\n");
    }
  }
}

}  // namespace
}  // namespace trainer
