// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/base/function_ref.h"
#include "trainer/train/session.h"

namespace trainer::train {

/// The time and memory that were measured for one batch size.
struct BatchTrial {
  int64_t batch_size = 1;
  int64_t num_threads = 1;
  double step_seconds = 0;   // duration of the shortest of several steps
  int64_t memory_bytes = 0;  // memory used: on the accelerator, or on the CPU by the process

  double samples_per_second() const { return static_cast<double>(batch_size) / step_seconds; }
};

/// The measurements of a batch search, and the size at which memory ran out.
struct BatchSearch {
  std::vector<BatchTrial> trials;  // the sizes that fit, ascending; not empty
  /// The smallest size that did not fit into memory; 0: all sizes did.
  int64_t too_large = 0;
};

/// Times real steps with 1, 2, 4, ... and `max_batch_size` rows. If memory runs out, bisects
/// between the last size that fits and the first that does not, to within a tenth. The rows come
/// from the training split, repeated if there are too few. Calls `on_trial` after each trial. The
/// weights do not change, but the moments of the optimizer do. With `num_threads` 0, uses the
/// fastest number of threads for each size. Throws Error(kOutOfMemory) if not even one row fits.
BatchSearch search_batch_sizes(Session& session, int64_t max_batch_size, int64_t num_threads,
                               FunctionRef<void(const BatchTrial&)> on_trial);

/// Returns the trial with the smallest batch that is nearly as fast, in samples per second, as the
/// fastest one (at least 95 %).
const BatchTrial& smallest_fast_batch(const BatchSearch& search);

}  // namespace trainer::train
