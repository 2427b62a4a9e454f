// SPDX-License-Identifier: Apache-2.0
#include "simulated_device/launch.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

#include "simulated_device/memory.h"
#include "simulated_device/recording.h"
#include "simulated_device/state.h"

namespace trainer::test::simulated {
namespace {

enum class Kind { kLaunch, kView, kMemory, kWait };

struct Operator {
  Kind kind = Kind::kLaunch;
  std::string name;  // "aten::mm.out"
  int64_t launches = 0;
};

Kind kind_of(const c10::FunctionSchema& schema) {
  constexpr std::array<std::string_view, 9> kWaits = {
      "aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::equal",
      "aten::repeat_interleave",   "aten::_unique", "aten::_unique2",      "aten::unique_dim",
      "aten::unique_consecutive"};
  const std::string_view name = schema.name();
  if (std::find(kWaits.begin(), kWaits.end(), name) != kWaits.end()) return Kind::kWait;
  if (name.starts_with("aten::empty") || name.starts_with("aten::set_") ||
      name == "aten::resize_") {
    return Kind::kMemory;
  }
  const auto& returns = schema.returns();
  const bool is_view =
      !returns.empty() && returns[0].alias_info() != nullptr && !returns[0].alias_info()->isWrite();
  return is_view ? Kind::kView : Kind::kLaunch;
}

std::unordered_map<const c10::FunctionSchema*, Operator>& operators() {
  static auto* all = new std::unordered_map<const c10::FunctionSchema*, Operator>;
  return *all;
}

Operator& operator_of(const c10::OperatorHandle& op) {
  auto found = operators().find(&op.schema());
  if (found == operators().end()) {
    Operator added = {kind_of(op.schema()), c10::toString(op.operator_name())};
    found = operators().emplace(&op.schema(), std::move(added)).first;
  }
  return found->second;
}

bool falls_back_to_cpu() {
  const char* value = std::getenv("PYTORCH_ENABLE_MPS_FALLBACK");
  return value != nullptr && std::string_view(value) != "0";
}

void check_presence(State& s, const Operator& op) {
  if (!s.behaviour.missing.contains(op.name)) return;
  TORCH_CHECK_NOT_IMPLEMENTED(
      falls_back_to_cpu(), "The operator '", op.name,
      "' is not currently implemented for the MPS device. If you want this op to be considered "
      "for addition please comment on https://github.com/pytorch/pytorch/issues/141287 and mention "
      "use-case, that resulted in missing op as well as commit hash. As a temporary fix, you can "
      "set the environment variable `PYTORCH_ENABLE_MPS_FALLBACK=1` to use the CPU as a fallback "
      "for this op. WARNING: this will be slower than running natively on MPS.");
  ++s.counters.waits;
}

// The texts are those of devices that are lost.
std::string failure_text() {
  return kIsCuda ? "CUDA error: unspecified launch failure"
                 : "MPS: command buffer exited with error status: Internal Error";
}

void tell_late_failure(State& s) {
  if (s.late_failure.empty()) return;
  const std::string text = std::exchange(s.late_failure, "");
  TORCH_CHECK(false, text);
}

// Sleeps while the device still works; the other threads may go on.
void wait_for_device(State& s, std::unique_lock<std::mutex>& lock) {
  const auto until = s.busy_until;
  if (until > std::chrono::steady_clock::now()) {
    lock.unlock();
    std::this_thread::sleep_until(until);
    lock.lock();
  }
  tell_late_failure(s);
}

bool counts_down_to_zero(int64_t& count) {
  if (count == 0) return false;
  --count;
  return count == 0;
}

Outcome start(State& s) {
  Behaviour& b = s.behaviour;
  const auto now = std::chrono::steady_clock::now();
  s.busy_until = std::max(s.busy_until, now) + std::chrono::microseconds(b.operator_microseconds);
  const bool is_lost = b.lose_in == 1;
  if (b.lose_in > 1) --b.lose_in;
  if (is_lost || counts_down_to_zero(b.fail_in)) {
    if (b.fails_late) {
      s.late_failure = failure_text();
    } else {
      TORCH_CHECK(false, failure_text());
    }
  }
  if (counts_down_to_zero(b.oom_in)) throw_out_of_memory(s, 0);
  return counts_down_to_zero(b.nan_in) ? Outcome::kNan : Outcome::kRight;
}

void check_not_recording() {
  TORCH_CHECK(!is_recording(), "CUDA error: operation not permitted when stream is capturing");
}

}  // namespace

Launched launch(const c10::OperatorHandle& op) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  Operator& known = operator_of(op);
  thread_operator().name = known.name.c_str();
  check_presence(s, known);
  if (known.kind == Kind::kMemory) return {.is_work = false};
  if (known.kind == Kind::kView) {
    ++s.counters.views;
    return {.is_work = false};
  }
  if (known.kind == Kind::kWait) check_not_recording();
  ++s.counters.operators;
  ++known.launches;
  const Outcome outcome = start(s);
  if (known.kind == Kind::kWait) {
    ++s.counters.waits;
    wait_for_device(s, lock);
  }
  return {.outcome = outcome};
}

void launch_graph() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  thread_operator().name = "graph";
  ++s.counters.operators;
  start(s);
}

void launch_copy(Copy copy) {
  State& s = state();
  std::unique_lock lock(s.mutex);
  thread_operator().name = "aten::copy_";
  if (copy != Copy::kWithin) check_not_recording();
  Counters& c = s.counters;
  ++(copy == Copy::kToHost ? c.to_host : copy == Copy::kToDevice ? c.to_device : c.operators);
  start(s);
  if (copy != Copy::kToHost) return;
  ++c.waits;
  wait_for_device(s, lock);
}

Counters counters() {
  const std::lock_guard lock(state().mutex);
  Counters c = state().counters;
  for (const auto& [schema, op] : operators()) {
    if (op.launches > 0) c.by_operator[op.name] = op.launches;
  }
  return c;
}

void reset_counters() {
  const std::lock_guard lock(state().mutex);
  Counters& c = state().counters;
  const int64_t bytes = c.bytes;
  c = {};
  c.bytes = c.peak_bytes = bytes;
  for (auto& [schema, op] : operators()) op.launches = 0;
}

}  // namespace trainer::test::simulated
