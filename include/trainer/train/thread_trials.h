// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/base/function_ref.h"
#include "trainer/train/session.h"

namespace trainer::train {

/// The measured duration of a step with this number of threads.
struct ThreadTrial {
  int64_t num_threads = 1;
  double step_seconds = 0;
};

/// Times `step` with 1, 2, 4, ... and `max_threads` threads until more threads are slower. Takes a
/// fraction of a second. A step that takes longer than 50 ms with all threads is timed with these
/// only.
std::vector<ThreadTrial> try_threads(int64_t max_threads,
                                     FunctionRef<void(int64_t num_threads)> set_threads,
                                     FunctionRef<void()> step);

/// Times the next step of the session. Changes only the number of threads.
std::vector<ThreadTrial> try_threads(Session& session, int64_t max_threads);

/// Returns the smallest number of threads whose step takes at most 10 % longer than the fastest.
/// `trials` must not be empty.
int64_t min_fast_threads(const std::vector<ThreadTrial>& trials);

}  // namespace trainer::train
