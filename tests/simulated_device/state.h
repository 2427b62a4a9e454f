// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

/// A simulated accelerator: a device of LibTorch (MPS or CUDA, as it is compiled) for tests, with
/// memory that the CPU cannot touch. operators.cpp says how it works.
namespace trainer::test::simulated {

/// How it differs from a healthy device with all dtypes and enough memory.
struct Behaviour {
  bool has_float64 = true;
  bool has_bfloat16 = true;
  bool has_float16 = true;
  int64_t max_bytes = 0;              // a budget for all memory; 0: none
  int64_t max_buffer_bytes = 0;       // the same for one tensor
  int64_t fail_in = 0;                // the n-th operator from now on fails; 0: none
  int64_t lose_in = 0;                // so do all from the n-th on
  int64_t oom_in = 0;                 // the n-th operator runs out of memory
  int64_t nan_in = 0;                 // the n-th operator gives NaN
  bool fails_late = false;            // failures are told when the host waits
  int64_t operator_microseconds = 0;  // each takes as long, while the host goes on
  std::set<std::string> missing;      // operators: "aten::mm", "aten::mm.out"
};

/// What was counted since reset_counters().
struct Counters {
  int64_t operators = 0;  // launches
  int64_t views = 0;      // operators that only change sizes and strides
  int64_t allocations = 0;
  int64_t new_blocks = 0;  // allocations that no freed block of that size could serve
  int64_t bytes = 0;       // in use now
  int64_t peak_bytes = 0;
  int64_t to_device = 0;  // copies
  int64_t to_host = 0;
  int64_t waits = 0;                           // copies to the host, item(), nonzero() and such
  std::map<std::string, int64_t> by_operator;  // launches
};

/// What the threads share. Lock `mutex` for all else.
struct State {
  std::mutex mutex;
  Behaviour behaviour;
  Counters counters;
  std::string late_failure;  // to be told
  std::chrono::steady_clock::time_point busy_until;
};

State& state();

Counters counters();
void reset_counters();

/// Reads SIMULATED_DEVICE: "max_bytes=1000000,fail_in=17,fp64=0,missing=aten::mm+aten::mm.out", or
/// "missing=@FILE" with an operator a line. Ends the program if it has a mistake.
void read_environment(Behaviour& behaviour);

}  // namespace trainer::test::simulated
