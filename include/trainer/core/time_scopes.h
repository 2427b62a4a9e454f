// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "trainer/core/timeline.h"

/// What reports to the timeline of the process. Without a timeline a scope is a comparison with
/// null.
namespace trainer {

/// The time of a scope belongs to this stage, and no longer to the one around it.
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

/// The time that a thread spends in a scope. Scopes of work do not contain each other.
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

  /// Whether anybody wants to know.
  bool is_measured() const { return timeline_ != nullptr; }

 private:
  Timeline* timeline_;
  Work work_;
  std::size_t layer_;
  int64_t begin_ = 0;
};

/// Within this scope nothing is measured; what the owner does counts as the stage around it.
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
