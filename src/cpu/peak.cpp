// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/peak.h"

#include <algorithm>

#include "trainer/core/stopwatch.h"
#include "trainer/cpu/buffer.h"
#include "trainer/cpu/ceil_div.h"
#include "trainer/cpu/kernels.h"
#include "trainer/cpu/thread_team.h"

namespace trainer::cpu {
namespace {

constexpr int kTries = 5;

// The shortest of some runs, after one that warms up.
double shortest_run(ThreadTeam& team, FunctionRef<void(int64_t)> body) {
  team.run(body);
  double shortest = 0;
  for (int i = 0; i < kTries; ++i) {
    const Stopwatch stopwatch;
    team.run(body);
    const double seconds = stopwatch.seconds();
    shortest = i == 0 ? seconds : std::min(shortest, seconds);
  }
  return shortest;
}

double measure_bytes(ThreadTeam& team) {
  constexpr int64_t kFloats = 8 << 20;
  constexpr int64_t kArrays = 3;
  constexpr float kFactor = 3;
  const Buffer a(kFloats);
  const Buffer b(kFloats);
  const Buffer c(kFloats);
  const int64_t part = ceil_div(kFloats, team.num_threads());
  const double seconds = shortest_run(team, [&](int64_t thread) {
    const int64_t end = std::min(kFloats, (thread + 1) * part);
    float* to = a.get();
    const float* x = b.get();
    const float* y = c.get();
    for (int64_t i = thread * part; i < end; ++i) to[i] = x[i] + kFactor * y[i];
  });
  return static_cast<double>(kArrays * kFloats * static_cast<int64_t>(sizeof(float))) / seconds;
}

double measure_flops(ThreadTeam& team) {
  constexpr int64_t kRows = 14;
  constexpr int64_t kDepth = 256;
  constexpr int64_t kRepetitions = 8000;
  const Kernels& of_machine = kernels();
  const int64_t columns = of_machine.panel_columns;
  const double seconds = shortest_run(team, [&](int64_t) {
    const Buffer a(kRows * kDepth);
    const Buffer b(kDepth * columns);
    const Buffer c(kRows * columns);
    const Buffer scratch(of_machine.scratch_floats);
    for (int64_t i = 0; i < kRepetitions; ++i) {
      of_machine.multiply({.num_rows = kRows,
                           .num_columns = columns,
                           .depth = kDepth,
                           .a = a.get(),
                           .a_row = kDepth,
                           .b = b.get(),
                           .b_depth = columns,
                           .c = c.get(),
                           .c_row = columns},
                          scratch.get());
    }
  });
  const int64_t multiply_adds = kRows * kDepth * columns * kRepetitions * team.num_threads();
  return 2 * static_cast<double>(multiply_adds) / seconds;
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
