// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/checkpoint/find.h"

#include <string>

#include <gtest/gtest.h>

#include "trainer/base/error.h"

#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace trainer::checkpoint {
namespace {

namespace fs = std::filesystem;

TEST(FindCheckpointTest, TakesAFileARunFolderOrTheShortForm) {
  const test::TemporaryFolder folder;
  const fs::path best = folder.write("run/checkpoints/best.pt", "");
  const fs::path last = folder.write("run/checkpoints/last.pt", "");
  EXPECT_EQ(find_checkpoint(best), best);
  EXPECT_EQ(find_checkpoint(folder.path() / "run"), last);
  EXPECT_EQ(find_checkpoint(folder.path() / "run/checkpoints"), last);
  EXPECT_EQ(find_checkpoint(folder.path() / "run/best.pt"), best);
}

TEST(FindCheckpointTest, AnUnknownOneIsAnErrorThatListsWhatThereIs) {
  const test::TemporaryFolder folder;
  folder.write("run/checkpoints/last.pt", "");
  folder.write("run/checkpoints/best.pt", "");
  const fs::path wrong = folder.path() / "run" / "worst.pt";
  const Error error = test::error_of([&] { find_checkpoint(wrong); });
  EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
  EXPECT_EQ(error.what(), wrong.string() + ": no such checkpoint; " +
                              (folder.path() / "run/checkpoints").string() +
                              " has best.pt and last.pt");
}

TEST(FindCheckpointTest, AFolderOfRunsNamesTheNewest) {
  const test::TemporaryFolder folder;
  for (const char* name : {"a", "b", "c", "d"}) {
    folder.write("runs/" + std::string(name) + "/config_resolved.yaml", "");
  }
  folder.write("runs/notes/x", "");
  fs::create_symlink("gone", folder.path() / "runs/latest");
  const std::string runs = (folder.path() / "runs").string();
  const std::string list = "specify a run: " + runs + "/d, " + runs + "/c or " + runs + "/b";
  EXPECT_EQ(test::error_of([&] { find_checkpoint(runs); }).what(),
            runs + ": no such checkpoint; " + list);
  EXPECT_EQ(test::error_of([&] { find_checkpoint(runs + "/latest"); }).what(),
            runs + "/latest: no such checkpoint; " + list);
}

TEST(FindCheckpointTest, AnEmptyRunFolderIsAnError) {
  const test::TemporaryFolder folder;
  const Error error = test::error_of([&] { find_checkpoint(folder.path()); });
  EXPECT_EQ(error.what(), folder.path().string() + ": no such checkpoint; there are no " +
                              "checkpoints in " + folder.path().string());
  const Error nowhere = test::error_of([] { find_checkpoint("nothing.pt"); });
  EXPECT_STREQ(nowhere.what(), "nothing.pt: no such checkpoint; there are no checkpoints in .");
}

}  // namespace
}  // namespace trainer::checkpoint
