// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/upload.h"

#include <ATen/ops/empty.h>

namespace trainer::device {

// CUDA copies from other than pinned memory only after all its work is done.
at::Tensor upload_memory(at::IntArrayRef sizes, at::ScalarType dtype, c10::Device device) {
  return at::empty(sizes, at::TensorOptions().dtype(dtype).pinned_memory(device.is_cuda()));
}

at::Tensor upload(const at::Tensor& memory, c10::Device device, Uploads* uploads) {
  if (uploads == nullptr) return memory.to(device);
  uploads->push_back(memory);
  return memory.to(device, memory.scalar_type(), /*non_blocking=*/true);
}

}  // namespace trainer::device
