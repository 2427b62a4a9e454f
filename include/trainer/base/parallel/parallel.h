// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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

}  // namespace trainer
