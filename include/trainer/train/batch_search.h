// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/core/function_ref.h"
#include "trainer/train/session.h"

namespace trainer::train {

/// The measurement of one batch size.
struct BatchTrial {
  int64_t batch_size = 1;
  int64_t num_threads = 1;
  double step_seconds = 0;   // the shortest of several steps
  int64_t memory_bytes = 0;  // of the device; on the CPU, of the process

  double samples_per_second() const { return static_cast<double>(batch_size) / step_seconds; }
};

/// What a batch search found.
struct BatchSearch {
  std::vector<BatchTrial> trials;  // the sizes that fit, ascending; not empty
  int64_t too_large = 0;           // the smallest size that did not fit; 0: all did
};

/// Times real steps with 1, 2, 4, ... and `max_batch_size` rows. If memory runs out, bisects
/// between the last size that fits and the first that does not, to within a tenth. The rows are
/// those of the training split, repeated if there are too few. Calls `on_trial` after each trial.
/// The weights do not change, the optimizer's moments do. With `num_threads` 0, uses the fastest
/// number for each size. Throws Error(kOutOfMemory) if not even one row fits.
BatchSearch search_batch_sizes(Session& session, int64_t max_batch_size, int64_t num_threads,
                               FunctionRef<void(const BatchTrial&)> on_trial);

/// The smallest batch whose samples per second are nearly those of the fastest.
const BatchTrial& smallest_fast_batch(const BatchSearch& search);

}  // namespace trainer::train
