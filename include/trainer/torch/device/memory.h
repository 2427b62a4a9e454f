// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include <c10/core/Device.h>

namespace trainer::device {

/// The bytes of an accelerator's memory that tensors of this process use.
struct DeviceMemory {
  int64_t current = 0;
  std::optional<int64_t> peak;  // since the start or restart_peak_memory(); unknown for MPS
};

/// Returns the memory use of an accelerator. Nothing for the CPU, and for accelerators without
/// memory statistics in this version of LibTorch.
std::optional<DeviceMemory> accelerator_memory(c10::Device device);

/// Whether `error` means that memory ran out: std::bad_alloc, Error(kOutOfMemory), LibTorch's own
/// type, or an error of LibTorch with the text of the allocators of CPU, CUDA or MPS.
bool is_out_of_memory(const std::exception& error);

/// Frees memory that the allocator of the device caches, so that the next attempt can use all of
/// it.
void release_cached_memory(c10::Device device);

}  // namespace trainer::device
