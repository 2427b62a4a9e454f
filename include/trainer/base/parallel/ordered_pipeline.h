// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/base/function_ref.h"

namespace trainer {

/// The three stages of a pipeline. Each item occupies a slot, which later items reuse.
struct PipelineStages {
  /// Puts the next item into the slot, or returns false if there is none. Runs on the calling
  /// thread.
  FunctionRef<bool(size_t slot)> take;
  /// Does the expensive work on an item. Runs on any `thread` in [0, num_threads), for several
  /// slots at the same time.
  FunctionRef<void(size_t slot, size_t thread)> work;
  /// Uses the results in the order of the items; returns false to end the pipeline. Runs on the
  /// calling thread.
  FunctionRef<bool(size_t slot)> give;
};

/// The number of slots of a pipeline: about two per thread, so that no thread waits for a free one;
/// 1 for a single thread.
size_t pipeline_slots(int64_t num_threads);

/// Passes each item through the stages, on the calling thread and `num_threads - 1` others. If
/// stages throw, rethrows the exception of the first failed item, after `give` was called for all
/// items before it.
void run_pipeline(int64_t num_threads, const PipelineStages& stages);

}  // namespace trainer
