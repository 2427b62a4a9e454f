// SPDX-License-Identifier: Apache-2.0
#include "train/steps_ahead.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/io/log.h"
#include "trainer/base/text/json.h"  // IWYU pragma: keep
#include "trainer/base/time/stopwatch.h"
#include "trainer/base/time/timeline.h"
#include "trainer/torch/device/memory.h"
#include "trainer/train/out_of_memory.h"

namespace trainer::train {
namespace {

// Returns all tensors that steps change: weights, moments and buffers.
std::vector<at::Tensor> changed_tensors(const Session& session) {
  std::vector<at::Tensor> tensors = {session.model.parameters().values};
  for (const model::NamedTensor& moment : session.optimizer_state.moments) {
    tensors.push_back(moment.tensor);
  }
  const at::Tensor& buffers = session.model.buffer_values();
  if (buffers.defined()) tensors.push_back(buffers);
  return tensors;
}

// Warns that a step was finite only when it was run again.
void warn_of_device(const Session& session) {
  log::event("device_fault",
             fmt::format("step {} (epoch {}): the results of {} were not finite, and finite when "
                         "the step was run again: do not trust this device",
                         session.state.position.step + 1, session.state.position.epoch + 1,
                         session.device.str()),
             {{"step", session.state.position.step + 1}}, log::Level::kWarning);
}

}  // namespace

void StepsAhead::SavedState::save(const Session& session) {
  run_state_ = session.state;
  optimizer_step_ = session.optimizer_state.step;
  grad_norm_ = session.grad_norm;
  const std::vector<at::Tensor> now = changed_tensors(session);
  if (tensors_.empty() || tensors_.front().device() != now.front().device()) {
    std::vector<at::Tensor> copies;
    copies.reserve(now.size());
    for (const at::Tensor& tensor : now) copies.push_back(tensor.clone());
    tensors_ = std::move(copies);
  } else {
    for (std::size_t i = 0; i < now.size(); ++i) tensors_[i].copy_(now[i]);
  }
}

void StepsAhead::SavedState::restore_run_state(Session& session) const {
  session.state = run_state_;
  session.grad_norm = grad_norm_;
}

void StepsAhead::SavedState::restore(Session& session) const {
  restore_run_state(session);
  session.optimizer_state.step = optimizer_step_;
  const std::vector<at::Tensor> now = changed_tensors(session);
  for (std::size_t i = 0; i < tensors_.size(); ++i) now[i].copy_(tensors_[i]);
}

const std::vector<StepStats>& StepsAhead::run(Session& session, int64_t most) {
  const Stopwatch stopwatch;
  const bool may_start = has_room_ && session.step->can_start();
  const int64_t count = may_start && num_single_ == 0 ? std::min(length_, most) : 1;
  if (count == 1 || !run_together(session, count)) {
    results_.assign(1, run_step(session));
    num_single_ = std::max<int64_t>(0, num_single_ - 1);
    if (num_single_ == 0 && std::exchange(is_doubted_, false) && results_.back().is_finite) {
      warn_of_device(session);
    }
  }
  choose_length(stopwatch.seconds());
  return results_;
}

// Returns whether all steps were finite. Otherwise the session is as before, and the steps up to
// the first that was not finite must be run one by one.
bool StepsAhead::run_together(Session& session, int64_t count) {
  const TimedStage timed(Stage::kStep);
  int64_t num_started = 0;
  bool is_saved = false;
  results_.clear();
  try {
    saved_.save(session);
    is_saved = true;
    for (; num_started < count; ++num_started) {
      const Window window = next_window(session);
      session.step->start(window, next_rates(session));
      advance(session, {.num_samples = window.num_samples});
    }
    results_ = session.step->finish();
    saved_.restore_run_state(session);
  } catch (const std::exception& e) {
    if (is_saved) saved_.restore_run_state(session);
    if (!device::is_out_of_memory(e)) throw;
    session.step->finish();
    has_room_ = false;
  }
  const auto bad = std::find_if(results_.begin(), results_.end(),
                                [](const StepStats& stats) { return !stats.is_finite; });
  if (has_room_ && bad == results_.end()) return true;
  if (is_saved) saved_.restore(session);
  is_doubted_ = has_room_ && !bad->has_overflowed;
  num_single_ = 1 + (has_room_ ? std::distance(results_.begin(), bad) : num_started);
  length_ = 1;
  if (!has_room_) {
    saved_ = {};
    device::release_cached_memory(session.device);
  }
  return false;
}

void StepsAhead::choose_length(double seconds) {
  if (seconds > max_seconds_) {
    length_ = std::max<int64_t>(1, length_ / 2);
  } else if (seconds < max_seconds_ / 2 && std::ssize(results_) == length_) {
    length_ = std::min(2 * length_, max_length_);
  }
}

}  // namespace trainer::train
