// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/log.h"

#include <regex>

#include <gtest/gtest.h>

#include "trainer/core/error.h"

#include "support/error_of.h"
#include "support/file_size_limit.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer {
namespace {

class LogTest : public testing::Test {
 protected:
  LogTest() { log::set_console_level(log::Level::kInfo); }  // what a run shows
};

TEST_F(LogTest, TheConsoleShowsPlainLinesWhereItIsNoTerminal) {
  testing::internal::CaptureStderr();
  log::debug("hidden");
  log::info("one");
  log::warning("two");
  log::error("three");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "one\nwarning: two\nerror: three\n");
}

TEST_F(LogTest, TheFileGetsDateLevelAndMessage) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "train.log";
  log::open_file(path, log::Level::kInfo);
  testing::internal::CaptureStderr();
  log::debug("hidden");
  log::info("epoch 1");
  log::warning("careful");
  testing::internal::GetCapturedStderr();
  log::close_file();
  const std::string date = R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3})";
  EXPECT_TRUE(std::regex_match(
      test::read_file(path), std::regex(date + " info    epoch 1\n" + date + " warning careful\n")))
      << test::read_file(path);
}

TEST_F(LogTest, NotesAreForTheFileAndDetailsForWhoeverWantsThem) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "train.log";
  log::open_file(path, log::Level::kInfo);
  testing::internal::CaptureStderr();
  log::note("one");
  log::detail("two");
  log::set_console_level(log::Level::kDebug);
  log::detail("three");
  log::set_console_level(log::Level::kInfo);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "three\n");
  log::close_file();
  const std::string text = test::read_file(path);
  for (const char* line : {" info    one\n", " info    two\n", " info    three\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

TEST_F(LogTest, TheFileIsAppendedTo) {
  const test::TemporaryFolder folder;
  const auto path = folder.write("train.log", "before\n");
  log::open_file(path, log::Level::kInfo);
  log::close_file();
  EXPECT_EQ(test::read_file(path), "before\n");
}

TEST_F(LogTest, AFileThatCannotBeWrittenIsAnError) {
  const test::TemporaryFolder folder;
  const Error error = test::error_of([&] { log::open_file(folder.path(), log::Level::kInfo); });
  EXPECT_EQ(error.kind(), ErrorKind::kFileSystem);
  EXPECT_STREQ(error.what(),
               ("cannot write " + folder.path().string() + ": Is a directory").c_str());
}

TEST_F(LogTest, AFileThatIsFullIsOneWarning) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "train.log";
  log::open_file(path, log::Level::kDebug);
  testing::internal::CaptureStderr();
  {
    const test::FileSizeLimit limit(10000);  // for the captured console too
    log::debug(std::string(20000, 'x'));
    log::info("the first after it");
    log::info("the second after it");
    log::close_file();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: cannot write " + path.string() +
                ": File too large; messages will be missing from this file\n"
                "the first after it\n"
                "the second after it\n");
}

TEST_F(LogTest, AFileThatIsFullWhenItIsClosedIsOneWarning) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "train.log";
  log::open_file(path, log::Level::kDebug);
  testing::internal::CaptureStderr();
  {
    const test::FileSizeLimit limit(1000);
    log::debug(std::string(3000, 'x'));  // stays in memory
    log::close_file();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: cannot write " + path.string() +
                ": File too large; messages will be missing from this file\n");
}

TEST_F(LogTest, AStatusLineIsNotShownWhereTheConsoleIsNoTerminal) {
  testing::internal::CaptureStderr();
  log::show_status("50 %");
  log::clear_status();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace trainer
