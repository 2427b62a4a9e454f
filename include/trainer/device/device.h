// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <c10/core/Device.h>

namespace trainer::device {

/// The accelerators that this LibTorch can use on this machine.
struct AvailableDevices {
  int num_cuda = 0;
  bool mps = false;
};

/// What this LibTorch and this machine have now.
AvailableDevices available_devices();

/// A device and the sentence that says why it was taken.
struct DeviceChoice {
  c10::Device device = c10::Device(c10::kCPU);
  std::string reason;
  std::string warning;  // empty unless another device than the one asked for was taken
};

enum class Fallback { kToCpu, kForbidden };

/// The device for `requested` ("auto", "cpu", "mps", "cuda" or "cuda:N"). An absent one becomes the
/// CPU with a warning, or Error(kDevice) where that is forbidden.
DeviceChoice choose_device(const std::string& requested, Fallback fallback,
                           const AvailableDevices& available);

}  // namespace trainer::device
