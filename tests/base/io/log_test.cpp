// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/log.h"

#include <cmath>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "trainer/base/error.h"
#include "trainer/base/text/json.h"

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

TEST_F(LogTest, AFileOfJsonThatIsFullIsOneWarningToo) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "train.log.jsonl";
  log::open_file(folder.path() / "train.log", log::Level::kWarning);
  log::open_json_file(path, log::Level::kDebug);
  testing::internal::CaptureStderr();
  {
    const test::FileSizeLimit limit(10000);
    log::debug(std::string(20000, 'x'));
    log::debug("more");
    log::close_file();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: cannot write " + path.string() +
                ": File too large; messages will be missing from this file\n");
}

/// With JSON on the console, what `write` logs, a value for each line, without its time.
std::vector<Json> json_lines(const std::function<void()>& write) {
  log::set_console_format(log::Format::kJson);
  testing::internal::CaptureStderr();
  write();
  std::istringstream text(testing::internal::GetCapturedStderr());
  log::set_console_format(log::Format::kText);
  std::vector<Json> lines;
  for (std::string line; std::getline(text, line);) {
    Json value = parse_json_or_null(line);
    EXPECT_TRUE(std::regex_match(value.value("time", ""),
                                 std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)")))
        << line;
    value.erase("time");
    lines.push_back(value);
  }
  return lines;
}

Json json_line(const char* level, const char* event, const std::string& message) {
  return {{"level", level}, {"event", event}, {"message", message}};
}

TEST_F(LogTest, EachMessageIsALineOfJson) {
  const std::vector<Json> lines = json_lines([] {
    log::debug("hidden");
    log::info("one\ntwo \"three\"");
    log::warning("careful");
    log::error("wrong");
    log::show_status("50 %");
    log::clear_status();
    log::overview("rows", "7 train");
    log::overview("", "2 test");
  });
  Json first = json_line("info", "overview", "rows: 7 train");
  first.update({{"label", "rows"}, {"value", "7 train"}});
  Json second = json_line("info", "overview", "rows: 2 test");
  second.update({{"label", "rows"}, {"value", "2 test"}});
  EXPECT_EQ(lines, (std::vector<Json>{json_line("info", "message", "one\ntwo \"three\""),
                                      json_line("warning", "warning", "careful"),
                                      json_line("error", "error", "wrong"), first, second}));
}

TEST_F(LogTest, AnEventHasFieldsAndAProcessItsRank) {
  const std::vector<Json> lines = json_lines([] {
    log::set_rank(0);
    log::event("epoch", "epoch 1", {{"step", 8}, {"loss", 0.5}, {"time", "is that of the line"}});
    log::event("saved", "careful", Json::object(), log::Level::kWarning);
    log::record("metrics", "step 8", {{"loss", std::nan("")}});
    log::set_rank({});
    log::text_line("is not shown");
  });
  Json epoch = json_line("info", "epoch", "epoch 1");
  epoch.update({{"rank", 0}, {"step", 8}, {"loss", 0.5}});
  Json saved = json_line("warning", "saved", "careful");
  saved["rank"] = 0;
  Json metrics = json_line("info", "metrics", "step 8");
  metrics.update({{"rank", 0}, {"loss", nullptr}});
  EXPECT_EQ(lines, (std::vector<Json>{epoch, saved, metrics}));
}

TEST_F(LogTest, TextThatIsNoUtf8IsValidJson) {
  const std::vector<Json> lines = json_lines([] {
    log::event("error", "caf\xe9", {{"file", "\xff.csv"}});
  });
  Json expected = json_line("info", "error", "caf\xef\xbf\xbd");
  expected["file"] = "\xef\xbf\xbd.csv";
  EXPECT_EQ(lines, std::vector<Json>{expected});
}

TEST_F(LogTest, TheFileIsTextWhateverTheConsoleHas) {
  const test::TemporaryFolder folder;
  const auto path = folder.path() / "train.log";
  log::open_file(path, log::Level::kInfo);
  json_lines([] {
    log::event("epoch", "epoch 1", {{"step", 8}});
    log::text_line("a line");
    log::record("metrics", "step 8", Json::object());
    log::overview("rows", "7");
  });
  log::close_file();
  const std::string date = R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} info    )";
  EXPECT_TRUE(std::regex_match(
      test::read_file(path),
      std::regex(date + "epoch 1\n" + date + "a line\n" + date + "rows        7\n")))
      << test::read_file(path);
}

TEST_F(LogTest, AJsonFileLeavesTheConsoleToPeople) {
  const test::TemporaryFolder folder;
  EXPECT_FALSE(log::has_json());
  log::open_file(folder.path() / "train.log", log::Level::kInfo);
  log::open_json_file(folder.path() / "train.jsonl", log::Level::kInfo);
  EXPECT_TRUE(log::has_json());
  testing::internal::CaptureStderr();
  log::debug("hidden");
  log::event("epoch", "epoch 1", {{"step", 8}});
  log::record("metrics", "step 8", {{"loss", 1}});
  log::text_line("a line");
  log::overview("rows", "7");
  log::warning("careful");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "epoch 1\na line\nrows        7\nwarning: careful\n");
  log::close_file();
  EXPECT_FALSE(log::has_json());
  std::vector<std::string> events;
  for (const std::string& text : test::lines_of(test::read_file(folder.path() / "train.jsonl"))) {
    const Json object = parse_json(text);
    events.push_back(object["event"].get<std::string>() + ": " +
                     object["message"].get<std::string>());
  }
  EXPECT_EQ(events, (std::vector<std::string>{"epoch: epoch 1", "metrics: step 8",
                                              "overview: rows: 7", "warning: careful"}));
  EXPECT_EQ(test::read_file(folder.path() / "train.log").find('{'), std::string::npos);
}

TEST_F(LogTest, TextForPeopleHasNoFields) {
  testing::internal::CaptureStderr();
  log::set_rank(1);
  log::event("epoch", "epoch 1", {{"step", 8}});
  log::set_rank(0);
  log::record("metrics", "step 8", {{"loss", 1}});
  log::text_line("a line");
  log::set_rank({});
  log::overview("rows", "7");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[rank 1] epoch 1\na line\nrows        7\n");
}

TEST_F(LogTest, AStatusLineIsNotShownWhereTheConsoleIsNoTerminal) {
  testing::internal::CaptureStderr();
  log::show_status("50 %");
  log::clear_status();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace trainer
