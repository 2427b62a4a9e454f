// SPDX-License-Identifier: Apache-2.0
// Kills runs at every moment at which a file is half written, renamed or removed, and compares what
// comes out after a resume with a run that was never interrupted. Each run is a forked child of
// this process, which loads LibTorch once and computes nothing itself.
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "trainer/run/checkpoint/compare.h"
#include "trainer/run/folder/metrics_log.h"

#include "support/child.h"
#include "support/engine_runs.h"
#include "support/files.h"
#include "support/temporary_folder.h"

namespace trainer {
namespace {

namespace fs = std::filesystem;

struct Course {
  const char* name;
  const char* yaml;
};

// Between them: checkpoints within epochs, at epochs that are not all saved, the best epoch saved
// alone, early stopping, accumulation, rollback.
const Course kCourses[] = {
    {"StepsAndEpochs", R"(
device: cpu
threads: 1
data: {synthetic: {num_samples: 60, num_features: 5, num_classes: 3}}
model: {hidden_size: 4, num_layers: 1, dropout: 0.1, norm: batch}
training: {epochs: 3, batch_size: 16, learning_rate: 0.01}
checkpoint: {every_steps: 2, keep_last: 2}
logging: {save_interval: 1}
)"},
    {"EverySecondEpochAndEarlyStopping", R"(
device: cpu
threads: 1
data: {synthetic: {num_samples: 60, num_features: 5, num_classes: 3}}
model: {hidden_size: 4, num_layers: 1}
training: {epochs: 9, batch_size: 16, gradient_accumulation_steps: 2, learning_rate: 0.5,
           optimizer: {name: sgd, momentum: 0.9}, best_metric: accuracy,
           early_stopping: {patience: 2}}
checkpoint: {every_epochs: 2, keep_last: 1}
)"},
    {"Rollback", R"(
device: cpu
threads: 1
data: {synthetic: {num_samples: 60, num_features: 5, num_classes: 3}, scaling: none}
model: {hidden_size: 4, num_layers: 3}
training: {epochs: 4, batch_size: 8, learning_rate: 3e4, gradient_clip_norm: 0,
           on_nonfinite: rollback, optimizer: {name: sgd, momentum: 0, weight_decay: 0},
           schedule: {name: constant}}
checkpoint: {every_steps: 2, keep_last: 2}
logging: {save_interval: 1}
)"},
};

enum class End { kDone, kKilled };

// Trains, or goes on, in a child that dies at the moment `crash_at` of its writing; 0: never. With
// `from` it goes on from that checkpoint of the run.
End run_in_child(const fs::path& folder, const std::string& yaml, int64_t crash_at,
                 const fs::path& from = {}) {
  test::Child child([&] {
    try {
      if (crash_at > 0) setenv("TRAINER_CRASH_AT", std::to_string(crash_at).c_str(), 1);
      engine::TrainRequest request = test::make_request(folder, yaml);
      request.resume = from.empty()
                           ? checkpoint::find_same_run(folder / "runs", request.config.config,
                                                       checkpoint::OpenMode::kResume)
                           : checkpoint::open_checkpoint(folder / "runs/latest/checkpoints" / from,
                                                         checkpoint::OpenMode::kResume);
      test::train_quietly(request);
      return 0;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return 1;
    }
  });
  const int exit_code = child.wait();
  if (exit_code == 128 + SIGKILL) return End::kKilled;
  EXPECT_EQ(exit_code, 0) << "killed at " << crash_at;
  return End::kDone;
}

// Whatever the moment was: every file under its final name is whole.
void expect_all_readable(const fs::path& folder) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_symlink() || entry.path().extension() != ".pt") continue;
    EXPECT_NO_THROW(checkpoint::read(entry.path())) << entry.path();
  }
}

void expect_same_run(const fs::path& whole, const fs::path& parts) {
  for (const char* name : {"checkpoints/last.pt", "checkpoints/best.pt"}) {
    ASSERT_EQ(fs::exists(whole / name), fs::exists(parts / name)) << name;
    if (!fs::exists(whole / name)) continue;
    const auto difference =
        first_difference(checkpoint::read(whole / name), checkpoint::read(parts / name));
    EXPECT_FALSE(difference.has_value()) << name << ": " << *difference;
  }
  const auto difference = run::first_difference(whole / "metrics.jsonl", parts / "metrics.jsonl");
  EXPECT_FALSE(difference.has_value()) << *difference;
}

// By default one moment in kStride, every one with TRAINER_TORTURE=full.
int64_t stride() {
  constexpr int64_t kStride = 3;
  const char* wanted = std::getenv("TRAINER_TORTURE");
  return wanted != nullptr && std::string(wanted) == "full" ? 1 : kStride;
}

class CrashTest : public testing::TestWithParam<Course> {
 protected:
  // In memory where there is such a folder: a kill, unlike a power failure, does not tell it from a
  // disk, and nobody waits for fsync.
  CrashTest() {
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
  }
};

TEST_P(CrashTest, AKillAtEveryMomentOfWritingLeavesTheSameRun) {
  const std::string yaml = GetParam().yaml;
  const test::TemporaryFolder whole;
  ASSERT_EQ(run_in_child(whole.path(), yaml, 0), End::kDone);
  int64_t kills = 0;
  for (int64_t crash_at = 1;; crash_at += stride()) {
    const test::TemporaryFolder parts;
    if (run_in_child(parts.path(), yaml, crash_at) == End::kDone) break;
    ++kills;
    expect_all_readable(parts.path());
    // Once more, soon after the start: while the folder is made ready for the resumed run.
    if (run_in_child(parts.path(), yaml, 1 + crash_at % 61) == End::kKilled) {
      ++kills;
      expect_all_readable(parts.path());
      ASSERT_EQ(run_in_child(parts.path(), yaml, 0), End::kDone);
    }
    expect_same_run(whole.path() / "runs/latest", parts.path() / "runs/latest");
    EXPECT_FALSE(test::has_temporary_files(parts.path() / "runs/latest"));
    ASSERT_FALSE(testing::Test::HasFailure()) << "killed at moment " << crash_at;
  }
  std::printf("%s: %lld of %lld kills exact\n", GetParam().name, static_cast<long long>(kills),
              static_cast<long long>(kills));
  EXPECT_GT(kills, 10);
}

// What came after the older checkpoint is kept first, whenever the process is killed.
TEST(CrashWhileRewindingTest, AKillAtEveryMomentLosesNothing) {
  constexpr const char* kYaml = R"(
device: cpu
threads: 1
data: {synthetic: {num_samples: 60, num_features: 5, num_classes: 3}}
model: {hidden_size: 4, num_layers: 1}
training: {epochs: 3, batch_size: 16, learning_rate: 0.01}
)";
  const fs::path older = "checkpoint_epoch_001.pt";
  const test::TemporaryFolder whole;
  ASSERT_EQ(run_in_child(whole.path(), kYaml, 0), End::kDone);
  const fs::path run =
      fs::canonical(whole.path() / "runs/latest").lexically_relative(fs::canonical(whole.path()));
  const std::string records = test::read_file(whole.path() / run / "metrics.jsonl");
  int64_t kills = 0;
  for (int64_t crash_at = 1;; crash_at += stride()) {
    const test::TemporaryFolder parts;
    fs::copy(whole.path(), parts.path(),
             fs::copy_options::recursive | fs::copy_options::copy_symlinks |
                 fs::copy_options::overwrite_existing);
    const bool is_killed = run_in_child(parts.path(), kYaml, crash_at, older) == End::kKilled;
    expect_all_readable(parts.path());
    if (is_killed) {
      ++kills;
      ASSERT_EQ(run_in_child(parts.path(), kYaml, 0, older), End::kDone);
    }
    expect_same_run(whole.path() / run, parts.path() / run);
    const fs::path kept = parts.path() / run / "superseded/1";
    EXPECT_TRUE(records.ends_with(test::read_file(kept / "metrics.jsonl")));
    EXPECT_EQ(checkpoint::read(kept / "checkpoints/last.pt").state.position.epoch, 3);
    EXPECT_TRUE(fs::exists(kept / "summary.json"));
    EXPECT_FALSE(test::has_temporary_files(parts.path() / run));
    ASSERT_FALSE(testing::Test::HasFailure()) << "killed at moment " << crash_at;
    if (!is_killed) break;
  }
  EXPECT_GT(kills, 5);
}

INSTANTIATE_TEST_SUITE_P(Courses, CrashTest, testing::ValuesIn(kCourses),
                         [](const auto& course) { return std::string(course.param.name); });

}  // namespace
}  // namespace trainer
