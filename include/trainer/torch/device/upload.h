// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace trainer::device {

/// Memory on the CPU that devices may still be copying from. It must be kept until the host has
/// waited for the device.
using Uploads = std::vector<at::Tensor>;

/// Returns an uninitialized tensor on the CPU that upload() can copy to `device` without waiting.
at::Tensor upload_memory(at::IntArrayRef sizes, at::ScalarType dtype, c10::Device device);

/// Copies `memory` to the tensor `to` on the device. Waits for the copy only if `uploads` is null;
/// else `uploads` keeps the memory.
void upload(const at::Tensor& memory, const at::Tensor& to, Uploads* uploads);

}  // namespace trainer::device
