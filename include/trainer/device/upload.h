// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

namespace trainer::device {

/// Memory on the CPU that devices may still be copying from: to be kept until the host has waited
/// for them.
using Uploads = std::vector<at::Tensor>;

/// A tensor on the CPU, not initialized, that upload() can copy to `device` without waiting.
at::Tensor upload_memory(at::IntArrayRef sizes, at::ScalarType dtype, c10::Device device);

/// Copies `memory` to `to`, on the device. Does not wait for the copy if `uploads` keeps the
/// memory.
void upload(const at::Tensor& memory, const at::Tensor& to, Uploads* uploads);

}  // namespace trainer::device
