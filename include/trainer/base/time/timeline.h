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

/// A profile of where the time of a run goes. Scopes in the code report their times to the timeline
/// of the process while there is one; else a scope costs only a comparison with null.

namespace trainer {

/// The stages of a run, in the order in which they usually happen. A run is in one stage at a time.
enum class Stage : uint8_t {
  kOther,
  kLoadEngine,
  kRead,
  kSplit,
  kEncode,
  kPrepare,
  kTryThreads,
  kUnmeasured,  // training steps whose work is not measured
  kStep,
  kEvaluate,
  kRecord,
  kSave,
};
inline constexpr std::size_t kNumStages = 12;

/// The kinds of work within a stage, each done by one or more threads.
enum class Work : uint8_t {
  kGather,
  kForward,
  kLoss,
  kInputGradient,
  kWeightGradient,
  kBackward,  // both gradients, where they are not measured separately
  kReduce,
  kGradientNorm,
  kUpdate,
  kWriteCheckpoint,
};
inline constexpr std::size_t kNumWorks = 10;

/// The name of a stage or a kind of work in reports, such as "thread trials" or "weight gradient".
std::string_view name_of(Stage stage);
std::string_view name_of(Work work);

/// The total time of several scopes and their number. Times of several threads add up.
struct TimeSum {
  int64_t nanoseconds = 0;
  int64_t count = 0;

  double seconds() const { return 1e-9 * static_cast<double>(nanoseconds); }
};

/// One scope of a stage or of work on one thread. Times are nanoseconds since the timeline began.
struct TimeSpan {
  std::string_view name = {};
  int64_t begin = 0;
  int64_t end = 0;
  int32_t thread = 0;  // index, in the order in which threads first report; 0 has the stages
  int32_t layer = 0;   // 1 + the index of a linear layer; 0: the work belongs to none
};

/// Collects the times of this process between construction and destruction. Results are complete
/// while no other thread is in a scope.
class Timeline {
 public:
  /// Keeps up to `max_spans` spans of each thread; sums include all of them. Only one timeline may
  /// exist at a time. Stages are measured on the calling thread only.
  explicit Timeline(std::size_t max_spans = 0);
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// Whether a timeline exists and is not paused.
  static bool is_active();

  double seconds() const { return 1e-9 * static_cast<double>(now()); }  // since construction
  /// The time of a stage without stages nested in it. The times of all stages add up to seconds().
  TimeSum sum(Stage stage) const;
  /// The time of a kind of work during a stage, over all threads; `layer` as in TimeSpan.
  TimeSum sum(Stage stage, Work work, std::size_t layer) const;
  /// One more than the largest `layer` of this work during this stage; 0 if there was no such work.
  std::size_t num_layers(Stage stage, Work work) const;
  /// The spans that were kept, grouped by thread and in the order in which they ended.
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
  uint64_t id_;  // unique among all timelines of the process
  std::atomic<Stage> stage_{Stage::kOther};
  int64_t stage_begin_ = 0;
  std::array<TimeSum, kNumStages> stages_{};
  mutable std::mutex mutex_;  // guards the list of threads, but not its elements
  std::vector<std::unique_ptr<ThreadTimes>> threads_;
};

/// Counts the time of its scope for `stage` and not for the enclosing stage. Only scopes on the
/// thread that made the timeline are measured.
class TimedStage {
 public:
  explicit TimedStage(Stage stage);
  ~TimedStage();
  TimedStage(const TimedStage&) = delete;
  TimedStage& operator=(const TimedStage&) = delete;

 private:
  Timeline* timeline_;  // null: not measured
  Stage stage_;
  Stage outer_ = Stage::kOther;
  int64_t begin_ = 0;
};

/// Measures the time that a thread spends in its scope. Scopes of work must not be nested.
class TimedWork {
 public:
  explicit TimedWork(Work work, std::size_t layer = 0)
      : timeline_(Timeline::active.load(std::memory_order_relaxed)), work_(work), layer_(layer) {
    if (timeline_ != nullptr) begin_ = timeline_->now();
  }
  ~TimedWork() {
    if (timeline_ != nullptr) timeline_->add(work_, layer_, begin_);
  }
  TimedWork(const TimedWork&) = delete;
  TimedWork& operator=(const TimedWork&) = delete;

  /// Whether a timeline records this scope; if not, its owner need not wait for an accelerator.
  bool is_measured() const { return timeline_ != nullptr; }

 private:
  Timeline* timeline_;
  Work work_;
  std::size_t layer_;
  int64_t begin_ = 0;
};

/// Stops all measurements within its scope. The time still counts for the enclosing stage.
class TimelinePause {
 public:
  TimelinePause() : timeline_(Timeline::active.exchange(nullptr)) {}
  ~TimelinePause() { Timeline::active.store(timeline_); }
  TimelinePause(const TimelinePause&) = delete;
  TimelinePause& operator=(const TimelinePause&) = delete;

 private:
  Timeline* timeline_;
};

}  // namespace trainer
