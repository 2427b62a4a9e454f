// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trainer/base/time/timeline.h"

/// Scopes that report their times to the timeline of the process. Without a timeline a scope costs
/// only a comparison with null.
namespace trainer {

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
