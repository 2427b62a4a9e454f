// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::bench {

/// Resets the peak memory of this process to its current memory, and returns whether the system can
/// do that. On macOS it cannot: the peak is that since the start.
bool restart_peak_memory();

/// The peak memory of this process in bytes; 0 if unknown.
uint64_t peak_memory_bytes();

}  // namespace trainer::bench
