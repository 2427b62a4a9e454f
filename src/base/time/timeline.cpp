// SPDX-License-Identifier: Apache-2.0
// Each thread adds to its own times, which it finds by a thread-local pointer, so that threads
// never wait for each other here. The id of the timeline is stored beside the pointer: threads
// outlive timelines, and a later timeline may have the address of an earlier one.
#include "trainer/base/time/timeline.h"

#include <algorithm>

namespace trainer {

struct Timeline::ThreadTimes {
  int32_t thread = 0;
  // The sums `[stage][work][layer]`; a vector grows when its thread reports a new layer.
  std::array<std::array<std::vector<TimeSum>, kNumWorks>, kNumStages> sums{};
  std::vector<TimeSpan> spans{};
};

std::atomic<Timeline*> Timeline::active{nullptr};

bool Timeline::is_active() { return active.load(std::memory_order_relaxed) != nullptr; }

namespace {

constexpr std::array<std::string_view, kNumStages> kStageNames = {
    "other",         "load LibTorch",    "read",  "split",    "encode", "prepare",
    "thread trials", "unmeasured steps", "steps", "evaluate", "record", "checkpoints"};

constexpr std::array<std::string_view, kNumWorks> kWorkNames = {
    "gather",   "forward", "loss",          "input gradient", "weight gradient",
    "backward", "reduce",  "gradient norm", "update",         "write checkpoint"};

std::size_t index_of(Stage stage) { return static_cast<std::size_t>(stage); }
std::size_t index_of(Work work) { return static_cast<std::size_t>(work); }

std::atomic<uint64_t> num_timelines{0};

}  // namespace

std::string_view name_of(Stage stage) { return kStageNames[index_of(stage)]; }
std::string_view name_of(Work work) { return kWorkNames[index_of(work)]; }

Timeline::Timeline(std::size_t max_spans) : max_spans_(max_spans), id_(++num_timelines) {
  of_this_thread();
  active.store(this);
}

Timeline::~Timeline() { active.store(nullptr); }

Timeline::ThreadTimes& Timeline::of_this_thread() {
  thread_local uint64_t timeline = 0;
  thread_local ThreadTimes* times = nullptr;
  if (times != nullptr && timeline == id_) return *times;
  const std::lock_guard lock(mutex_);
  times = threads_.emplace_back(std::make_unique<ThreadTimes>()).get();
  times->thread = static_cast<int32_t>(threads_.size() - 1);
  timeline = id_;
  return *times;
}

Stage Timeline::enter(Stage stage, int64_t time) {
  const Stage before = stage_.load(std::memory_order_relaxed);
  stages_[index_of(before)].nanoseconds += time - stage_begin_;
  stage_begin_ = time;
  stage_.store(stage, std::memory_order_relaxed);
  return before;
}

void Timeline::add(Work work, std::size_t layer, int64_t begin) {
  const int64_t end = now();
  ThreadTimes& times = of_this_thread();
  std::vector<TimeSum>& sums =
      times.sums[index_of(stage_.load(std::memory_order_relaxed))][index_of(work)];
  if (sums.size() <= layer) sums.resize(layer + 1);
  sums[layer].nanoseconds += end - begin;
  ++sums[layer].count;
  if (times.spans.size() >= max_spans_) return;
  times.spans.push_back({name_of(work), begin, end, times.thread, static_cast<int32_t>(layer)});
}

TimeSum Timeline::sum(Stage stage) const {
  TimeSum result = stages_[index_of(stage)];
  if (stage == stage_.load(std::memory_order_relaxed)) result.nanoseconds += now() - stage_begin_;
  return result;
}

TimeSum Timeline::sum(Stage stage, Work work, std::size_t layer) const {
  TimeSum result;
  const std::lock_guard lock(mutex_);
  for (const auto& times : threads_) {
    const std::vector<TimeSum>& sums = times->sums[index_of(stage)][index_of(work)];
    if (layer >= sums.size()) continue;
    result.nanoseconds += sums[layer].nanoseconds;
    result.count += sums[layer].count;
  }
  return result;
}

std::size_t Timeline::num_layers(Stage stage, Work work) const {
  std::size_t result = 0;
  const std::lock_guard lock(mutex_);
  for (const auto& times : threads_) {
    result = std::max(result, times->sums[index_of(stage)][index_of(work)].size());
  }
  return result;
}

std::vector<TimeSpan> Timeline::spans() const {
  std::vector<TimeSpan> result;
  const std::lock_guard lock(mutex_);
  for (const auto& times : threads_) {
    result.insert(result.end(), times->spans.begin(), times->spans.end());
  }
  return result;
}

TimedStage::TimedStage(Stage stage)
    : timeline_(Timeline::active.load(std::memory_order_relaxed)), stage_(stage) {
  if (timeline_ == nullptr) return;
  if (timeline_->owner_ != std::this_thread::get_id()) {
    timeline_ = nullptr;
    return;
  }
  begin_ = timeline_->now();
  outer_ = timeline_->enter(stage, begin_);
}

TimedStage::~TimedStage() {
  if (timeline_ == nullptr) return;
  const int64_t end = timeline_->now();
  timeline_->enter(outer_, end);
  ++timeline_->stages_[index_of(stage_)].count;
  Timeline::ThreadTimes& times = timeline_->of_this_thread();
  if (times.spans.size() >= timeline_->max_spans_) return;
  times.spans.push_back({name_of(stage_), begin_, end, times.thread, 0});
}

}  // namespace trainer
