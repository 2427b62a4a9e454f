// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace trainer {

/// Resident memory of this process in bytes, now and at its peak.
struct ProcessMemory {
  int64_t current = 0;
  int64_t anonymous = 0;  // part of `current` that no file backs, so that it cannot be dropped
  int64_t peak = 0;
};

/// Returns the values that the operating system reports; 0 if unknown.
ProcessMemory process_memory();

/// Bytes of main memory that are still available to this process, limited by the cgroup. Nothing if
/// unknown.
std::optional<int64_t> available_memory();

/// Bytes of main memory of this machine, limited by the cgroup. Nothing if unknown.
std::optional<int64_t> total_memory();

/// From now on, freeing a block of 1 MiB or more returns it to the operating system. By default
/// glibc keeps blocks of up to 32 MiB, which may not fit later allocations. Does nothing with
/// another C library.
void return_freed_blocks();

/// Throws Error(kOutOfMemory) "{what} needs {num_bytes}, but ...; {fix}" if `num_bytes` exceeds
/// twice the memory of this machine, which leaves room for as much swap.
void require_memory(int64_t num_bytes, const std::string& what, const std::string& fix);

}  // namespace trainer
