// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/io/made_folders.h"

#include <filesystem>
#include <system_error>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

TEST(MadeFoldersTest, RemovesWhatItMadeAndWhatIsStillEmpty) {
  const test::TemporaryFolder folder;
  fs::create_directory(folder.path() / "old");
  std::error_code error;
  {
    MadeFolders made;
    made.make_with_parents(folder.path() / "old" / "a" / "b", error);
    EXPECT_FALSE(error);
    EXPECT_TRUE(made.make(folder.path() / "new", error));
    EXPECT_FALSE(made.make(folder.path() / "old", error));
    EXPECT_FALSE(error);
    EXPECT_TRUE(fs::is_directory(folder.path() / "old" / "a" / "b"));
    folder.write("new/file", "");
  }
  EXPECT_TRUE(fs::is_empty(folder.path() / "old"));
  EXPECT_TRUE(fs::exists(folder.path() / "new" / "file"));
}

TEST(MadeFoldersTest, AFileInTheWayIsAnError) {
  const test::TemporaryFolder folder;
  folder.write("file", "");
  std::error_code error;
  MadeFolders made;
  made.make_with_parents(folder.path() / "file" / "a", error);
  EXPECT_EQ(error, std::errc::not_a_directory);
}

}  // namespace
}  // namespace trainer
