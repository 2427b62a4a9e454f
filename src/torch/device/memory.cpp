// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/memory.h"

#include <array>
#include <new>
#include <string_view>

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <torch/version.h>

#include "trainer/base/error.h"

#if TORCH_VERSION_MAJOR >= 2
#include <ATen/detail/MPSHooksInterface.h>
#endif
#ifdef TRAINER_HAS_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#endif
// The code in this file depends on the version and build of LibTorch.

namespace trainer::device {

std::optional<DeviceMemory> accelerator_memory(c10::Device device) {
#if TORCH_VERSION_MAJOR >= 2
  if (device.is_mps()) {
    return DeviceMemory{static_cast<int64_t>(at::detail::getMPSHooks().getCurrentAllocatedMemory()),
                        std::nullopt};
  }
#endif
#ifdef TRAINER_HAS_CUDA
  if (device.is_cuda()) {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device.index());
    return DeviceMemory{stats.allocated_bytes[0].current, stats.allocated_bytes[0].peak};
  }
#endif
  static_cast<void>(device);
  return std::nullopt;
}

bool is_out_of_memory(const std::exception& error) {
  if (const auto* own = dynamic_cast<const Error*>(&error)) {
    return own->kind() == ErrorKind::kOutOfMemory;
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr) return true;
  if (dynamic_cast<const c10::Error*>(&error) == nullptr) return false;
  const std::string_view text = error.what();
  // The texts are from, in this order: CUDA and MPS; MPS, for a buffer above Metal's limit; the CPU
  // on Linux and macOS; the CPU on other systems.
  constexpr std::array<std::string_view, 4> kTexts = {"out of memory", "Invalid buffer size",
                                                      "can't allocate memory", "not enough memory"};
  for (const std::string_view known : kTexts) {
    if (text.find(known) != std::string_view::npos) return true;
  }
  return false;
}

void release_cached_memory(c10::Device device) {
#if TORCH_VERSION_MAJOR >= 2
  if (device.is_mps()) at::detail::getMPSHooks().emptyCache();
#endif
#ifdef TRAINER_HAS_CUDA
  if (device.is_cuda()) c10::cuda::CUDACachingAllocator::emptyCache();
#endif
  static_cast<void>(device);
}

// The memory is pinned for CUDA, because copies from other memory wait until all work of the device
// is done.
at::Tensor upload_memory(at::IntArrayRef sizes, at::ScalarType dtype, c10::Device device) {
  return at::empty(sizes, at::TensorOptions().dtype(dtype).pinned_memory(device.is_cuda()));
}

void upload(const at::Tensor& memory, const at::Tensor& to, Uploads* uploads) {
  if (uploads != nullptr) uploads->push_back(memory);
  to.copy_(memory, /*non_blocking=*/uploads != nullptr);
}

}  // namespace trainer::device
