// SPDX-License-Identifier: Apache-2.0
// `trainer predict --follow`: a line for each line, before the next one is there.
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/files.h"
#include "support/process.h"
#include "support/program_test.h"
#include "support/running_program.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

using test::ProcessResult;

class FollowTest : public test::ProgramTest {
 protected:
  void SetUp() override {
    std::string table = "a,b,y\n";
    for (int i = 0; i < 60; ++i) {
      table +=
          std::to_string(i % 7) + ',' + std::to_string(i % 5) + ',' + std::to_string(i % 35) + '\n';
    }
    folder_.write("t.csv", table);
    const ProcessResult trained =
        trainer("data.source=csv data.path=t.csv data.target=y data.task=regression --epochs 2");
    ASSERT_EQ(trained.exit_code, 0) << trained.err;
    ASSERT_EQ(mkfifo(path("in").c_str(), 0600), 0);
    ASSERT_EQ(mkfifo(path("out").c_str(), 0600), 0);
  }

  /// What predict writes for lines that are all there.
  std::vector<std::string> predicted(const std::string& lines) const {
    folder_.write("new.csv", lines);
    const ProcessResult result = trainer("predict runs/latest new.csv");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return test::lines_of(result.out);
  }
};

/// A program that follows, and the pipes to it and from it.
class Following {
 public:
  Following(const std::filesystem::path& folder, const std::string& options)
      : program_(folder, "predict runs/latest --follow --threads 1 " + options + " <in >out",
                 test::Moments::kPassed),
        in_(folder / "in"),
        out_(folder / "out") {}

  /// Sends text and returns the line that comes back.
  std::string answer(const std::string& text) {
    send(text);
    std::string line;
    std::getline(out_, line);
    return line;
  }

  void send(const std::string& text) { in_ << text << std::flush; }
  void stop_listening() { out_.close(); }
  void interrupt() const {
    program_.wait_until_it_sleeps();
    program_.send(SIGINT);
  }

  /// Ends the input.
  ProcessResult finish() {
    in_.close();
    return wait();
  }

  ProcessResult wait() { return program_.finish(); }

 private:
  test::RunningProgram program_;
  std::ofstream in_;
  std::ifstream out_;
};

TEST_F(FollowTest, ALineComesBackBeforeTheNextIsSent) {
  const std::vector<std::string> expected = predicted("b,a\n1,2\n3,4\n0,6\n");
  Following program(folder_.path(), "");
  EXPECT_EQ(program.answer("b,a\n"), expected[0]);
  EXPECT_EQ(program.answer("1,2\n"), expected[1]);
  program.send("3,");
  EXPECT_EQ(program.answer("4\r\n"), expected[2]);
  EXPECT_EQ(program.answer("\n0,6\n3,4\n"), expected[3]);
  EXPECT_EQ(program.answer(""), expected[2]);
  const ProcessResult result = program.finish();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.err.starts_with("4 rows predicted in ")) << result.err;
}

TEST_F(FollowTest, ARowThatIsSkippedGetsAnEmptyLine) {
  Following program(folder_.path(), "--on-error skip --errors bad.csv --keep a");
  EXPECT_EQ(program.answer("b,a\n"), "a,prediction");
  EXPECT_EQ(program.answer("1,x\n"), ",");
  EXPECT_TRUE(program.answer("1,2\n").starts_with("2,"));
  const ProcessResult result = program.finish();
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("warning: skipped 1 row that could not be read, the first is line 2"),
            std::string::npos)
      << result.err;
  EXPECT_TRUE(test::read_file(path("bad.csv")).starts_with("line,reason\n2,")) << result.err;
}

TEST_F(FollowTest, ARowThatCannotBeReadEndsIt) {
  Following program(folder_.path(), "");
  program.answer("b,a\n");
  EXPECT_FALSE(program.answer("1,2\n").empty());
  program.send("1,x\n");
  const ProcessResult result = program.wait();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.err,
            "error: standard input:3: column \"a\": expected a number, got \"x\"; "
            "correct it: the column was numeric in the training data\n");
}

TEST_F(FollowTest, ASignalEndsIt) {
  Following program(folder_.path(), "");
  program.answer("b,a\n");
  EXPECT_FALSE(program.answer("1,2\n").empty());
  program.interrupt();
  const ProcessResult stopped = program.wait();
  EXPECT_EQ(stopped.exit_code, 128 + SIGINT);
  EXPECT_EQ(stopped.err, "warning: interrupted; not all rows were predicted\n");
}

TEST_F(FollowTest, ItEndsWhenNobodyReadsItsAnswers) {
  Following program(folder_.path(), "");
  program.answer("b,a\n");
  program.stop_listening();
  program.send("1,2\n");
  EXPECT_EQ(program.wait().exit_code, 128 + SIGPIPE);
}

TEST_F(FollowTest, FilesAndPackedTextAreRefused) {
  const ProcessResult result = trainer("predict runs/latest t.csv --follow -o p.csv");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: --follow: expected rows on standard input, got the table \"t.csv\"; remove one "
            "of them\n"
            "--follow: expected predictions on standard output, got --output \"p.csv\"; "
            "remove one of them\n");
  const ProcessResult packed =
      test::run_process("cd " + folder_.path().string() + "; gzip -c t.csv | " + test::kTrainer +
                        " predict runs/latest --follow");
  EXPECT_EQ(packed.exit_code, 3);
  EXPECT_EQ(
      packed.err,
      "error: standard input: is packed, expected lines of text; unpack it on its way here\n");
}

}  // namespace
}  // namespace trainer
