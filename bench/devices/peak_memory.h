// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::bench {

/// Lets the peak of this process's memory begin anew at what it has now. Where the system cannot do
/// that (macOS), the peak stays that since the start.
void restart_peak_memory();

/// The most memory that this process had at once, in bytes; 0 where the system does not say.
uint64_t peak_memory_bytes();

}  // namespace trainer::bench
