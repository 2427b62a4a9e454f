// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/peak.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <vector>

#include "trainer/base/time/stopwatch.h"
#include "trainer/nn/cpu/buffer.h"
#include "trainer/nn/cpu/ceil_div.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/nn/cpu/thread_team.h"

namespace trainer::cpu {
namespace {

constexpr int64_t kDepth = 256;

// Products of one tile of the largest size, because smaller tiles may be limited by the latency of
// their sums.
class TileProducts {
 public:
  explicit TileProducts(const Kernels& of_machine)
      : kernels_(of_machine),
        a_(of_machine.tile_rows * kDepth),
        b_(kDepth * of_machine.panel_columns),
        c_(of_machine.tile_rows * of_machine.panel_columns),
        scratch_(of_machine.scratch_floats) {}

  // Returns the operations per second of some products, measured for about 2 ms.
  double measure() {
    constexpr int64_t kFlops = 200'000'000;
    const int64_t flops = 2 * kernels_.tile_rows * kDepth * kernels_.panel_columns;
    const int64_t repetitions = kFlops / flops;
    const Stopwatch stopwatch;
    for (int64_t i = 0; i < repetitions; ++i) {
      kernels_.multiply({.num_rows = kernels_.tile_rows,
                         .num_columns = kernels_.panel_columns,
                         .depth = kDepth,
                         .a = a_.get(),
                         .a_row = kDepth,
                         .b = b_.get(),
                         .b_depth = kernels_.panel_columns,
                         .c = c_.get(),
                         .c_row = kernels_.panel_columns},
                        scratch_.get());
    }
    return static_cast<double>(repetitions * flops) / stopwatch.seconds();
  }

 private:
  const Kernels& kernels_;
  Buffer a_;
  Buffer b_;
  Buffer c_;
  Buffer scratch_;
};

// Adds the best try of each thread while the others work too. The tries are short and many: on a
// machine that other programs use, a thread is undisturbed in some of them, but all threads
// together rarely are.
double measure_flops(ThreadTeam& team) {
  constexpr int kTries = 25;
  std::vector<double> best(static_cast<std::size_t>(team.num_threads()));
  team.run([&](int64_t thread) {
    TileProducts products(kernels());
    double& of_thread = best[static_cast<std::size_t>(thread)];
    for (int i = 0; i < kTries; ++i) of_thread = std::max(of_thread, products.measure());
  });
  return std::accumulate(best.begin(), best.end(), 0.0);
}

double measure_bytes(ThreadTeam& team) {
  constexpr int kTries = 5;
  constexpr int64_t kFloats = 8 << 20;
  constexpr int64_t kArrays = 3;
  constexpr float kFactor = 3;
  const Buffer a(kFloats);
  const Buffer b(kFloats);
  const Buffer c(kFloats);
  const int64_t part = ceil_div(kFloats, team.num_threads());
  double shortest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kTries; ++i) {
    const Stopwatch stopwatch;
    team.run([&](int64_t thread) {
      const int64_t end = std::min(kFloats, (thread + 1) * part);
      float* to = a.get();
      const float* x = b.get();
      const float* y = c.get();
      for (int64_t j = thread * part; j < end; ++j) to[j] = x[j] + kFactor * y[j];
    });
    shortest = std::min(shortest, stopwatch.seconds());
  }
  return static_cast<double>(kArrays * kFloats * static_cast<int64_t>(sizeof(float))) / shortest;
}

}  // namespace

double measure_flops(int64_t num_threads) {
  ThreadTeam team(num_threads);
  return measure_flops(team);
}

Peak measure_peak(int64_t num_threads) {
  ThreadTeam team(num_threads);
  return {.flops_per_second = measure_flops(team), .bytes_per_second = measure_bytes(team)};
}

}  // namespace trainer::cpu
