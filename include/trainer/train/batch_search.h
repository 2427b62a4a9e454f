// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/core/function_ref.h"
#include "trainer/train/session.h"

namespace trainer::train {

/// How a batch size did.
struct BatchTrial {
  int64_t batch_size = 1;
  int64_t num_threads = 1;
  double step_seconds = 0;   // the shortest of several
  int64_t memory_bytes = 0;  // of the device, or of the process where that is the CPU

  double samples_per_second() const { return static_cast<double>(batch_size) / step_seconds; }
};

struct BatchSearch {
  std::vector<BatchTrial> trials;  // of those that fit, ascending; not empty
  int64_t too_large = 0;           // the least that did not fit; 0: all did
};

/// Makes real steps with 1, 2, 4, ... and `max_batch_size` rows, and where memory runs out between
/// the last that fits and the first that does not, to a tenth. The rows are those of the training
/// part, over again where they are too few. Calls `on_trial` after each trial. The weights stay as
/// they are, the optimizer's moments do not. `num_threads` 0 takes the fastest number for each.
/// Throws Error(kOutOfMemory) when not even one row fits.
BatchSearch search_batch_sizes(Session& session, int64_t max_batch_size, int64_t num_threads,
                               FunctionRef<void(const BatchTrial&)> on_trial);

/// The smallest batch that is nearly as fast as the fastest, in samples a second.
const BatchTrial& smallest_fast_batch(const BatchSearch& search);

}  // namespace trainer::train
