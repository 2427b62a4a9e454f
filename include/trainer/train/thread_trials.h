// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/core/function_ref.h"
#include "trainer/train/session.h"

namespace trainer::train {

/// How long a step takes with a number of threads.
struct ThreadTrial {
  int64_t num_threads = 1;
  double step_seconds = 0;
};

/// Times `step` with 1, 2, 4, ... and `max_threads` threads, as `set_threads` sets them, until more
/// of them are slower, a fraction of a second in all. A step that is long even with all of them is
/// tried no further.
std::vector<ThreadTrial> try_threads(int64_t max_threads,
                                     FunctionRef<void(int64_t num_threads)> set_threads,
                                     FunctionRef<void()> step);

/// The same with the session's own step; changes nothing but the number of threads.
std::vector<ThreadTrial> try_threads(Session& session, int64_t max_threads);

/// The fewest threads that are nearly as fast as the fastest: what is gained beyond is less than
/// what they take from others. `trials` is not empty.
int64_t min_fast_threads(const std::vector<ThreadTrial>& trials);

}  // namespace trainer::train
