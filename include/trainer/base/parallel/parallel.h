// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trainer/base/function_ref.h"

namespace trainer {

/// Calls body(i) once for each i in [0, count), on as many threads as this process may use CPUs,
/// and waits for all of them. If calls throw, rethrows the exception of the lowest such i; some
/// calls for larger i may then be missing. With a `name`, the calling thread reports the progress
/// by report_long_work().
void parallel_for(size_t count, FunctionRef<void(size_t)> body, std::string_view name = {});

/// Like parallel_for(), for consecutive ranges [begin, end) of `step` indices, the last one maybe
/// shorter, that make up [0, size).
void parallel_for_ranges(size_t size, size_t step, FunctionRef<void(size_t, size_t)> body,
                         std::string_view name = {});

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
