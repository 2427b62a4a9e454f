// SPDX-License-Identifier: Apache-2.0
// The real program on disks that are full, limited or read-only.
#include <unistd.h>
#ifdef __linux__
#include <sys/mount.h>
#endif

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "trainer/checkpoint/checkpoint.h"

#include "support/process.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::kTrainer;
using test::ProcessResult;

// A checkpoint has more than 100 KB then, every other file less than 10.
const std::string kLargeModel = "-q --epochs 1 model.hidden_sizes=[128,128] ";

// `before` stands before the program: "ulimit -f 100;".
ProcessResult trainer_in(const fs::path& folder, const std::string& arguments,
                         const std::string& before = "") {
  return test::run_process("sh -c 'cd " + folder.string() + "; " + before + " " + kTrainer + " " +
                           arguments + "'");
}

bool has_temporary_files(const fs::path& folder) {
  const fs::recursive_directory_iterator entries(folder);
  return std::any_of(begin(entries), end(entries), [](const auto& entry) {
    return entry.path().filename().string().find(".tmp-") != std::string::npos;
  });
}

// Path -> content of every file in `folder`.
std::map<std::string, std::string> files_in(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path().string()] = test::read_file(entry.path());
  }
  return files;
}

TEST(DiskTest, ACheckpointBeyondTheFileSizeLimitEndsWithEight) {
  const test::TemporaryFolder folder;
  // Blocks of 512 or 1024 bytes, as the shell has it.
  const ProcessResult result = trainer_in(folder.path(), kLargeModel, "ulimit -f 50;");
  EXPECT_EQ(result.exit_code, 8);
  const fs::path checkpoints =
      fs::directory_iterator(folder.path() / "runs")->path() / "checkpoints";
  EXPECT_EQ(result.err, "error: cannot write " +
                            (checkpoints / "checkpoint_epoch_000.pt").string() +
                            ": File too large\n");
  EXPECT_TRUE(fs::is_empty(checkpoints));
  EXPECT_FALSE(fs::is_symlink(folder.path() / "runs/latest"));  // there is nothing to go on with
}

TEST(DiskTest, ALogThatCannotGrowIsAWarningAndEndsNoRun) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(trainer_in(folder.path(), "-q --epochs 1").exit_code, 0);
  const fs::path log = fs::canonical(folder.path() / "runs/latest") / "train.log";
  std::ofstream(log, std::ios::app) << std::string(1 << 20, '\n');
  const ProcessResult resumed =
      trainer_in(folder.path(), "-q --resume runs/latest --epochs 3", "ulimit -f 1000;");
  EXPECT_EQ(resumed.exit_code, 0);
  EXPECT_EQ(resumed.err, "warning: cannot write " + log.string() +
                             ": File too large; messages will be missing there\n");
  EXPECT_EQ(checkpoint::read(folder.path() / "runs/latest/checkpoints/last.pt").position.epoch, 3);
}

#ifdef __linux__
// A disk of its own, in memory, for the time of a scope.
class SmallDisk {
 public:
  explicit SmallDisk(fs::path path) : path_(std::move(path)) {
    fs::create_directory(path_);
    is_mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=16m") == 0;
    if (!is_mounted_) problem_ = std::generic_category().message(errno);
  }
  ~SmallDisk() {
    if (is_mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  const fs::path& path() const { return path_; }
  const std::string& problem() const { return problem_; }

 private:
  fs::path path_;
  bool is_mounted_ = false;
  std::string problem_;
};

// Starts an endless run in the background; when it has a best checkpoint, the file `filler` takes
// all space, and again what the run frees, until the run ends. A run that does not end is ended
// after a minute of computing.
ProcessResult run_until_the_disk_is_full(const fs::path& disk) {
  return test::run_process(
      "sh -c 'cd " + disk.string() + "; ulimit -t 60; " + kTrainer +
      " -q --epochs 1000000 training.schedule.name=constant & pid=$!; "
      "while kill -0 $pid && ! [ -s runs/latest/checkpoints/best.pt ]; do sleep 0.01; done; "
      "while kill -0 $pid; do cat /dev/zero; done >" +
      (disk / "filler").string() + " 2>/dev/null; wait $pid'");
}

TEST(DiskTest, AFullDiskEndsWithEightAndTheRunGoesOnWhenThereIsSpace) {
  const test::TemporaryFolder folder;
  const SmallDisk disk(folder.path() / "disk");
  if (!disk.problem().empty()) GTEST_SKIP() << "cannot mount a small disk: " << disk.problem();
  const ProcessResult full = run_until_the_disk_is_full(disk.path());
  EXPECT_EQ(full.exit_code, 8);
  const fs::path run = fs::canonical(disk.path() / "runs/latest");
  // What does not fit first is chance.
  const std::regex expected(
      "(warning: cannot write " + run.string() +
      "/train\\.log: No space left on device; messages will be missing there\n)?"
      "error: cannot write " +
      run.string() +
      "/(checkpoints/checkpoint_epoch_\\d+\\.pt|metrics\\.jsonl): No space left on device\n");
  EXPECT_TRUE(std::regex_match(full.err, expected)) << full.err;
  EXPECT_FALSE(has_temporary_files(run));
  const checkpoint::Position last = checkpoint::read(run / "checkpoints/last.pt").position;
  EXPECT_GE(last.epoch, 1);

  fs::remove(disk.path() / "filler");
  const std::string epochs = std::to_string(last.epoch + 2);
  const ProcessResult resumed =
      trainer_in(disk.path(), "-q --resume " + run.string() + " --epochs " + epochs);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(checkpoint::read(run / "checkpoints/last.pt").position.epoch, last.epoch + 2);
}
#endif

// Folders that nobody may write to, for the time of a scope.
class ReadOnly {
 public:
  explicit ReadOnly(std::vector<fs::path> folders) : folders_(std::move(folders)) {
    set(fs::perms::owner_read | fs::perms::owner_exec | fs::perms::group_read |
        fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec);
  }
  ~ReadOnly() { set(fs::perms::owner_all); }
  ReadOnly(const ReadOnly&) = delete;
  ReadOnly& operator=(const ReadOnly&) = delete;

 private:
  void set(fs::perms permissions) const {
    for (const fs::path& folder : folders_) fs::permissions(folder, permissions);
  }

  std::vector<fs::path> folders_;
};

// Permissions mean nothing for root, who runs the program as somebody else.
class ReadOnlyFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() == 0) as_user_ = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    const ReadOnly readable({folder_.path()});
    const ProcessResult probe = trainer_in(folder_.path(), "--version", as_user_);
    if (probe.exit_code != 0) GTEST_SKIP() << "another user cannot run it: " << probe.err;
  }

  test::TemporaryFolder folder_;
  std::string as_user_;
};

TEST_F(ReadOnlyFolderTest, MakesNoRunAndEndsWithEight) {
  const ReadOnly read_only({folder_.path()});
  const ProcessResult result = trainer_in(folder_.path(), "--epochs 1", as_user_);
  EXPECT_EQ(result.exit_code, 8);
  EXPECT_EQ(result.err, "error: cannot make the folder " + (folder_.path() / "runs").string() +
                            ": Permission denied; choose another one with --output-dir\n");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(ReadOnlyFolderTest, KeepsARunAsItIsAndEndsWithEight) {
  ASSERT_EQ(trainer_in(folder_.path(), "-q --epochs 1").exit_code, 0);
  const fs::path run = fs::canonical(folder_.path() / "runs/latest");
  const auto before = files_in(folder_.path());
  const ReadOnly read_only({folder_.path(), folder_.path() / "runs", run, run / "checkpoints"});
  const ProcessResult result =
      trainer_in(folder_.path(), "--resume runs/latest --epochs 2", as_user_);
  EXPECT_EQ(result.exit_code, 8);
  EXPECT_EQ(result.err, "error: cannot write " + (run / "config_resolved.yaml").string() +
                            ": Permission denied\n");
  EXPECT_EQ(files_in(folder_.path()), before);
}

}  // namespace
}  // namespace trainer
