// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
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

/// Memory on the CPU that devices may still be copying from. It must be kept until the host has
/// waited for the device.
using Uploads = std::vector<at::Tensor>;

/// Returns an uninitialized tensor on the CPU that upload() can copy to `device` without waiting.
at::Tensor upload_memory(at::IntArrayRef sizes, at::ScalarType dtype, c10::Device device);

/// Copies `memory` to the tensor `to` on the device. Waits for the copy only if `uploads` is null;
/// else `uploads` keeps the memory.
void upload(const at::Tensor& memory, const at::Tensor& to, Uploads* uploads);

}  // namespace trainer::device
