// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

/// Where the time of a run goes. Scopes in the code (core/time_scopes.h) report to the timeline of
/// the process while there is one.
namespace trainer {

/// What a run does, one after the other. In the order of a run.
enum class Stage : uint8_t {
  kOther,
  kLoadEngine,
  kRead,
  kSplit,
  kEncode,
  kPrepare,
  kTryThreads,
  kUnmeasured,  // steps that are made, but whose work is not measured
  kStep,
  kEvaluate,
  kRecord,
  kSave,
};
inline constexpr std::size_t kNumStages = 12;

/// What the threads of a step do.
enum class Work : uint8_t {
  kGather,
  kForward,
  kLoss,
  kInputGradient,
  kWeightGradient,
  kBackward,  // both, where they are not known apart
  kReduce,
  kGradientNorm,
  kUpdate,
  kWriteCheckpoint,
};
inline constexpr std::size_t kNumWorks = 10;

/// "thread trials"; "weight gradient".
std::string_view name_of(Stage stage);
std::string_view name_of(Work work);

/// Of calls, or of spans of several threads.
struct TimeSum {
  int64_t nanoseconds = 0;
  int64_t count = 0;

  double seconds() const { return 1e-9 * static_cast<double>(nanoseconds); }
};

/// Something that a thread did; nanoseconds since the timeline began.
struct TimeSpan {
  std::string_view name = {};
  int64_t begin = 0;
  int64_t end = 0;
  int32_t thread = 0;  // in the order of their first span; 0 is the thread of the stages
  int32_t layer = 0;   // 0: none; else 1 + the index of a linear layer
};

/// Collects the times of this process between construction and destruction. The results are
/// complete when no other thread works.
class Timeline {
 public:
  /// Keeps up to `max_spans` single spans of each thread; the sums have all. There may be one
  /// timeline at a time; the calling thread is the one whose stages count.
  explicit Timeline(std::size_t max_spans = 0);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Whether there is one, and times are measured.
  static bool is_active();

  double seconds() const { return 1e-9 * static_cast<double>(now()); }  // since construction
  /// Without the stages within it. All stages together are seconds().
  TimeSum sum(Stage stage) const;
  /// Of all threads in that stage; layers as in TimeSpan.
  TimeSum sum(Stage stage, Work work, std::size_t layer) const;
  /// Of the work in that stage: one more than the last layer that has any.
  std::size_t num_layers(Stage stage, Work work) const;
  /// What is kept, of one thread after the other.
  std::vector<TimeSpan> spans() const;

 private:
  friend class TimedStage;
  friend class TimedWork;
  friend class TimelinePause;

  struct ThreadTimes;
  using Clock = std::chrono::steady_clock;

  int64_t now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start_).count();
  }
  ThreadTimes& of_this_thread();
  Stage enter(Stage stage, int64_t time);
  void add(Work work, std::size_t layer, int64_t begin);

  static std::atomic<Timeline*> active;

  Clock::time_point start_ = Clock::now();
  std::thread::id owner_ = std::this_thread::get_id();
  std::size_t max_spans_;
  uint64_t id_;  // of all timelines of the process
  std::atomic<Stage> stage_{Stage::kOther};
  int64_t stage_begin_ = 0;
  std::array<TimeSum, kNumStages> stages_{};
  mutable std::mutex mutex_;  // of the list, not of its elements
  std::vector<std::unique_ptr<ThreadTimes>> threads_;
};

}  // namespace trainer
