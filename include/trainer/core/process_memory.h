// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

/// Bytes of main memory that this machine has, cut to the cgroup's limit. Nothing where the system
/// does not say.
std::optional<int64_t> total_memory();

/// From now on a block of memory of 1 MiB or more goes back to the system when it is freed. glibc
/// keeps blocks of up to 32 MiB for later, and they need not fit what is asked for then. Does
/// nothing with another C library.
void return_freed_blocks();

/// Throws Error(kOutOfMemory) "{what} takes {num_bytes}, and ...; {fix}" when that is more than
/// this machine could have, with as much swap as memory.
void require_memory(int64_t num_bytes, const std::string& what, const std::string& fix);

}  // namespace trainer
