// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "trainer/core/function_ref.h"

namespace trainer {

/// What happens to the items of a pipeline. An item lies in a slot, which later items use again.
struct PipelineStages {
  /// Puts the next item into the slot, or returns false at the end. On the calling thread.
  FunctionRef<bool(size_t slot)> take;
  /// What takes long. On any `thread` in [0, num_threads), for several slots at the same time.
  FunctionRef<void(size_t slot, size_t thread)> work;
  /// Uses the result, in the order of the items, or returns false to end all. On the calling
  /// thread.
  FunctionRef<bool(size_t slot)> give;
};

/// How many slots there are: a few more than threads, so that none of them waits; one for one
/// thread.
size_t pipeline_slots(int64_t num_threads);

/// Passes each item through the stages, on the calling thread and `num_threads - 1` others. Throws
/// what a stage threw for the first item of which one threw anything, after all items before it
/// were given.
void run_pipeline(int64_t num_threads, const PipelineStages& stages);

}  // namespace trainer
