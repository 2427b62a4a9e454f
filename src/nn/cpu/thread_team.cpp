// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/thread_team.h"

#include "trainer/base/parallel/cpus.h"
#include "trainer/base/parallel/spin.h"

namespace trainer::cpu {
namespace {

// About ten microseconds, which is longer than most waits within a step.
constexpr int kSpinLimit = 1000;

// The control register of the CPU that determines, per thread, how subnormal numbers are treated.
#if defined(__x86_64__)
using FloatMode = unsigned;
constexpr FloatMode kFlushResults = 0x8000;
constexpr FloatMode kFlushOperands = 0x0040;
constexpr FloatMode kFlush = kFlushResults | kFlushOperands;
FloatMode float_mode() { return __builtin_ia32_stmxcsr(); }
void set_float_mode(FloatMode mode) { __builtin_ia32_ldmxcsr(mode); }
#elif defined(__aarch64__)
using FloatMode = uint64_t;
constexpr FloatMode kFlush = uint64_t{1} << 24;
FloatMode float_mode() {
  FloatMode mode = 0;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
void set_float_mode(FloatMode mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
using FloatMode = unsigned;
constexpr FloatMode kFlush = 0;
FloatMode float_mode() { return 0; }
void set_float_mode(FloatMode) {}
#endif

/// Treats subnormal numbers as zero within a scope.
class FlushSubnormals {
 public:
  FlushSubnormals() : before_(float_mode()) { set_float_mode(before_ | kFlush); }
  ~FlushSubnormals() { set_float_mode(before_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  FloatMode before_;
};

}  // namespace

ThreadTeam::ThreadTeam(int64_t num_threads)
    : num_threads_(num_threads), spin_limit_(num_threads > usable_cpus() ? 0 : kSpinLimit) {
  try {
    for (int64_t i = 1; i < num_threads; ++i) threads_.emplace_back([this, i] { work(i); });
  } catch (...) {  // the system has no more threads
    join();
    throw;
  }
}

ThreadTeam::~ThreadTeam() { join(); }

void ThreadTeam::join() {
  is_stopping_ = true;
  run_epoch_.fetch_add(1, std::memory_order_release);
  run_epoch_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::run(FunctionRef<void(int64_t)> body) {
  const FlushSubnormals flush;
  if (num_threads_ == 1) {
    body(0);
    return;
  }
  body_ = &body;
  run_epoch_.fetch_add(1, std::memory_order_release);
  run_epoch_.notify_all();
  body(0);
  barrier([] {});
}

void ThreadTeam::work(int64_t thread) {
  const FlushSubnormals flush;
  for (uint32_t epoch = 0;; ++epoch) {
    wait_while(run_epoch_, epoch);
    if (is_stopping_) return;
    (*body_)(thread);
    barrier([] {});
  }
}

void ThreadTeam::wait_while(const std::atomic<uint32_t>& value, uint32_t old) const {
  for (int spin = 0; spin < spin_limit_; ++spin) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause_spinning();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace trainer::cpu
