// SPDX-License-Identifier: Apache-2.0
// The real program on disks that are full, limited or read-only.
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/mount.h>
#endif

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <system_error>

#include <gtest/gtest.h>

#include "trainer/run/checkpoint/checkpoint.h"

#include "support/files.h"
#include "support/process.h"
#include "support/running_program.h"
#include "support/temporary_folder.h"
#include "support/trainer_program.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;
using test::trainer_in;
using test::trainer_in_shell;

// A checkpoint has more than 100 KB then, every other file less than 10.
const std::string kLargeModel = "-q --epochs 1 model.hidden_sizes=[128,128] ";

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
  const ProcessResult result = trainer_in_shell(folder.path(), "ulimit -f 50;", kLargeModel);
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
      trainer_in_shell(folder.path(), "ulimit -f 1000;", "-q --resume runs/latest --epochs 3");
  EXPECT_EQ(resumed.exit_code, 0);
  EXPECT_EQ(resumed.err, "warning: cannot write " + log.string() +
                             ": File too large; messages will be missing from this file\n");
  EXPECT_EQ(
      checkpoint::read(folder.path() / "runs/latest/checkpoints/last.pt").state.position.epoch, 3);
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

// Takes all the space that there is.
void fill(const fs::path& disk) {
  std::ofstream filler(disk / "filler", std::ios::binary | std::ios::app);
  const std::string block(1 << 16, '\0');
  while (filler << block << std::flush) {
  }
}

// An endless run; from its first best checkpoint on all space is taken, and at every moment what it
// frees. A run that does not end is ended after a minute of computing.
ProcessResult run_until_the_disk_is_full(const fs::path& disk) {
  test::RunningProgram run(disk, "-q --epochs 1000000 training.schedule.name=constant",
                           test::Moments::kHeld, "ulimit -t 60;");
  EXPECT_TRUE(
      run.go_on_until([&] { return fs::exists(disk / "runs/latest/checkpoints/best.pt"); }));
  do {
    fill(disk);
  } while (run.go_on());
  return run.finish();
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
      "/train\\.log: No space left on device; messages will be missing from this file\n"
      ")?error: cannot write " +
      run.string() +
      "/(checkpoints/checkpoint_epoch_\\d+\\.pt|metrics\\.jsonl): No space left on device\n");
  EXPECT_TRUE(std::regex_match(full.err, expected)) << full.err;
  EXPECT_FALSE(test::has_temporary_files(run));
  const checkpoint::Position last = checkpoint::read(run / "checkpoints/last.pt").state.position;
  EXPECT_GE(last.epoch, 1);

  fs::remove(disk.path() / "filler");
  const std::string epochs = std::to_string(last.epoch + 2);
  const ProcessResult resumed =
      trainer_in(disk.path(), "-q --resume " + run.string() + " --epochs " + epochs);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(checkpoint::read(run / "checkpoints/last.pt").state.position.epoch, last.epoch + 2);
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

// Permissions mean nothing for root, who runs the program as somebody else, who may read the files.
class ReadOnlyFolderTest : public testing::Test {
 protected:
  void SetUp() override {
    old_mask_ = ::umask(022);
    if (::geteuid() == 0) as_user_ = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    const ReadOnly readable({folder_.path()});
    const ProcessResult probe = trainer_in_shell(folder_.path(), as_user_, "--version");
    if (probe.exit_code != 0) GTEST_SKIP() << "another user cannot run it: " << probe.err;
  }

  void TearDown() override { ::umask(old_mask_); }

  test::TemporaryFolder folder_;
  std::string as_user_;
  mode_t old_mask_ = 0;
};

TEST_F(ReadOnlyFolderTest, MakesNoRunAndEndsWithEight) {
  const ReadOnly read_only({folder_.path()});
  const ProcessResult result = trainer_in_shell(folder_.path(), as_user_, "--epochs 1");
  EXPECT_EQ(result.exit_code, 8);
  EXPECT_EQ(result.err, "error: cannot create the folder " + (folder_.path() / "runs").string() +
                            ": Permission denied; choose another one with --output-dir\n");
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(ReadOnlyFolderTest, ItsRunsAreListedComparedAndExplained) {
  ASSERT_EQ(trainer_in(folder_.path(), "-q --epochs 1 --output-dir a").exit_code, 0);
  const fs::path run = fs::canonical(folder_.path() / "a/latest");
  const auto before = files_in(folder_.path());
  const ReadOnly read_only({folder_.path(), folder_.path() / "a", run, run / "checkpoints"});
  for (const char* command : {"runs list a", "runs show a/latest", "runs compare a/latest a/latest",
                              "runs watch a/latest", "explain a/latest"}) {
    const ProcessResult result = trainer_in_shell(folder_.path(), as_user_, command);
    EXPECT_EQ(result.exit_code, 0) << command << '\n' << result.err;
    EXPECT_FALSE(result.out.empty()) << command;
  }
  const std::map<std::string, std::string> refused = {
      {"report a/latest", "cannot write " + (run / "report.html").string() +
                              ": Permission denied; choose another file with --output"},
      {"runs note a/latest text",
       "cannot write " + (run / "note.txt").string() + ": Permission denied"},
      {"runs remove a/latest --yes", "cannot create the folder " +
                                         (run.parent_path() / ".trash").string() +
                                         ": Permission denied"}};
  for (const auto& [command, message] : refused) {
    const ProcessResult result = trainer_in_shell(folder_.path(), as_user_, command);
    EXPECT_EQ(result.exit_code, 8) << command;
    EXPECT_EQ(result.err, "error: " + message + "\n") << command;
  }
  EXPECT_EQ(files_in(folder_.path()), before);
}

TEST_F(ReadOnlyFolderTest, KeepsARunAsItIsAndEndsWithEight) {
  ASSERT_EQ(trainer_in(folder_.path(), "-q --epochs 1").exit_code, 0);
  const fs::path run = fs::canonical(folder_.path() / "runs/latest");
  const auto before = files_in(folder_.path());
  const ReadOnly read_only({folder_.path(), folder_.path() / "runs", run, run / "checkpoints"});
  const ProcessResult result =
      trainer_in_shell(folder_.path(), as_user_, "--resume runs/latest --epochs 2");
  EXPECT_EQ(result.exit_code, 8);
  EXPECT_EQ(result.err, "error: cannot write " + (run / "config_resolved.yaml").string() +
                            ": Permission denied\n");
  EXPECT_EQ(files_in(folder_.path()), before);
}

}  // namespace
}  // namespace trainer
