// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/user_folders.h"

#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"
#include "support/variable.h"

namespace trainer {
namespace {

using test::Variable;

TEST(UserFoldersTest, AreThoseOfTheEnvironmentAndElseInTheHomeFolder) {
  const Variable home("HOME", "/home/ada");
  const Variable data("XDG_DATA_HOME", nullptr);
  const Variable cache("XDG_CACHE_HOME", nullptr);
  EXPECT_EQ(home_folder(), "/home/ada");
  EXPECT_EQ(data_folder(), "/home/ada/.local/share/trainer");
  EXPECT_EQ(cache_folder(), "/home/ada/.cache/trainer");
  data.set("/data");
  cache.set("/fast");
  EXPECT_EQ(data_folder(), "/data/trainer");
  EXPECT_EQ(cache_folder(), "/fast/trainer");
}

TEST(UserFoldersTest, ARelativePathNamesNone) {
  const Variable home("HOME", "/home/ada");
  const Variable data("XDG_DATA_HOME", "share");
  const Variable cache("XDG_CACHE_HOME", "");
  EXPECT_EQ(data_folder(), "/home/ada/.local/share/trainer");
  EXPECT_EQ(cache_folder(), "/home/ada/.cache/trainer");
  for (const char* relative : {static_cast<const char*>(nullptr), "", ".", "home/ada", "~"}) {
    home.set(relative);
    EXPECT_FALSE(home_folder());
    EXPECT_FALSE(data_folder());
    EXPECT_FALSE(cache_folder());
  }
}

TEST(UserFoldersTest, ATildeStandsForTheHomeFolder) {
  const Variable home("HOME", "/home/ada");
  EXPECT_EQ(with_home("~"), "/home/ada");
  EXPECT_EQ(with_home("~/runs"), "/home/ada/runs");
  EXPECT_EQ(with_home("~bob/runs"), "~bob/runs");
  home.set("ada");
  EXPECT_EQ(with_home("~/runs"), std::nullopt);
  EXPECT_EQ(with_home("runs"), "runs");
}

TEST(UserFoldersTest, TheFolderForTemporaryFilesIsThereAndAbsolute) {
  const test::TemporaryFolder folder;
  const std::string file = folder.write("file", "").string();
  const Variable variable("TMPDIR", nullptr);
  EXPECT_EQ(temporary_folder(), "/tmp");
  variable.set("");
  EXPECT_EQ(temporary_folder(), "/tmp");
  variable.set(folder.path().c_str());
  EXPECT_EQ(temporary_folder(), folder.path());
  const auto problem = [&](const char* value) {
    variable.set(value);
    return test::message_of(ErrorKind::kFileSystem, [] { temporary_folder(); });
  };
  EXPECT_EQ(problem("tmp"),
            "TMPDIR: expected a folder for temporary files, got \"tmp\": the path is not absolute");
  EXPECT_EQ(problem(file.c_str()), "TMPDIR: expected a folder for temporary files, got \"" + file +
                                       "\": it is not a folder");
  EXPECT_EQ(problem("/none/tmp"),
            "TMPDIR: expected a folder for temporary files, got \"/none/tmp\": "
            "it is not there");
}

}  // namespace
}  // namespace trainer
