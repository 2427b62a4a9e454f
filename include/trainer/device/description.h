// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <c10/core/Device.h>
#include <nlohmann/json_fwd.hpp>

#include "trainer/device/device.h"

namespace trainer::device {

/// What an accelerator is. Members are empty or 0 if unknown.
struct Description {
  std::string name;          // "NVIDIA A100-SXM4-40GB", "Apple M2 Pro"
  int64_t memory_bytes = 0;  // MPS: the memory of the machine, which the GPU shares
  std::string driver;        // "550.54.15 (CUDA 12.4)", "macOS 14.5"
};

/// Describes an accelerator as its driver does.
Description describe(c10::Device device);

/// The available accelerators for system.json: a list of objects with `device` and, where they are
/// known, `name`, `memory_bytes` and `driver`.
nlohmann::ordered_json describe_accelerators(const AvailableDevices& available);

/// Starts the peak of accelerator_memory() anew, if the device has one.
void restart_peak_memory(c10::Device device);

}  // namespace trainer::device
