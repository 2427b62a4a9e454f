// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include <c10/core/Device.h>

namespace trainer::device {

/// Bytes of an accelerator's memory that tensors of this process hold.
struct DeviceMemory {
  int64_t current = 0;
  std::optional<int64_t> peak;  // since the start; MPS does not count it
};

/// Nothing for the CPU, and for accelerators whose allocator this LibTorch does not let ask.
std::optional<DeviceMemory> accelerator_memory(c10::Device device);

/// Whether `error` says that memory ran out: std::bad_alloc, LibTorch's own type, or the words of
/// the allocators of CPU, CUDA and MPS.
bool is_out_of_memory(const std::exception& error);

/// Gives what the device's allocator keeps for later back, so that the next attempt finds it whole.
void release_cached_memory(c10::Device device);

}  // namespace trainer::device
