// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "trainer/config/config.h"
#include "trainer/data/dataset.h"

// What a device makes of the run that it is to do: steps of its network, loss and optimizer, with
// its first rows, from the same weights as on the CPU. So every kind of layer that the run uses is
// checked in its own shape, whatever versions of LibTorch and of the system there are.
namespace trainer::train {

/// What is wrong with a small step in fp32 on `device`: it fails, or loss, gradient or weights are
/// not those of the CPU. Empty if all is well, or if memory runs out.
std::string find_device_problem(const config::Config& config, const data::Datasets& data,
                                c10::Device device);

/// A device and a precision that steps were timed with.
struct DeviceTrial {
  c10::Device device = c10::Device(c10::kCPU);
  config::Precision precision = config::Precision::kFp32;
  double step_seconds = 0;     // the median
  double loss_difference = 0;  // after some steps, relative to fp32 on the CPU
  std::string problem = {};    // why it is not to be chosen; empty: nothing
};

/// Times steps of whole batches on the devices and in the precisions of `trials`, and fills in the
/// rest of them. Changes the number of threads.
void time_devices(const config::Config& config, const data::Datasets& data,
                  std::vector<DeviceTrial>& trials);

/// The fastest one without a problem; of those within 5 % of it the first. Null if there is none.
const DeviceTrial* find_fastest(const std::vector<DeviceTrial>& trials);

}  // namespace trainer::train
