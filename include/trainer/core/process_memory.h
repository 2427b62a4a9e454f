// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace trainer {

/// Bytes of main memory that this process holds, and the most that it ever held.
struct ProcessMemory {
  int64_t current = 0;
  int64_t peak = 0;
};

/// What the system says; 0 where it says nothing.
ProcessMemory process_memory();

/// Bytes of main memory that this process can still have: the machine's, cut to the cgroup's limit.
/// Nothing where the system does not say.
std::optional<int64_t> available_memory();

}  // namespace trainer
