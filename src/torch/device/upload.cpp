// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/upload.h"

#include <ATen/ops/empty.h>

namespace trainer::device {

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
