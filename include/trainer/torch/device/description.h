// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <c10/core/Device.h>
#include <nlohmann/json_fwd.hpp>

#include "trainer/torch/device/device.h"

namespace trainer::device {

/// The name, memory and driver of an accelerator. Members are empty or 0 if unknown.
struct Description {
  std::string name;          // such as "NVIDIA A100-SXM4-40GB" or "Apple M2 Pro"
  int64_t memory_bytes = 0;  // MPS: the memory of the machine, which the GPU shares
  std::string driver;        // such as "550.54.15 (CUDA 12.4)" or "macOS 14.5"
};

/// Describes an accelerator with the information of its driver.
Description describe(c10::Device device);

/// The available accelerators for system.json: a list of objects with `device` and, if known,
/// `name`, `memory_bytes` and `driver`.
nlohmann::ordered_json describe_accelerators(const AvailableDevices& available);

/// Resets the peak of accelerator_memory() to the current use, if the device has a peak.
void restart_peak_memory(c10::Device device);

}  // namespace trainer::device
