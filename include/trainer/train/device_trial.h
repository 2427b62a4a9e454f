// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "trainer/config/config.h"
#include "trainer/table/dataset.h"

// Checks a device with the run itself: steps with the network, loss and optimizer of the run, with
// its first rows, from the same weights as on the CPU. So every kind of layer that the run uses is
// checked with its real shape, for the installed versions of LibTorch and of the system.
namespace trainer::train {

/// Runs a small step in fp32 on `device` and on the CPU. Returns a message if it fails on the
/// device, or if loss, gradient or weights differ from those on the CPU; empty if all is well, or
/// if memory runs out.
std::string find_device_problem(const config::Config& config, const data::Datasets& data,
                                c10::Device device);

/// The measured speed and accuracy of steps on one device in one precision.
struct DeviceTrial {
  c10::Device device = c10::Device(c10::kCPU);
  config::Precision precision = config::Precision::kFp32;
  /// Median over several measurements; with the faster number of threads on the CPU.
  double step_seconds = 0;
  double loss_difference = 0;  // of the loss after 10 steps, relative to fp32 on the CPU
  std::string problem = {};    // why this combination must not be used; empty: no problem
};

/// Times steps of whole batches on the devices and in the precisions of `trials`, and fills in
/// their other members. Changes the number of threads of LibTorch.
void time_devices(const config::Config& config, const data::Datasets& data,
                  std::vector<DeviceTrial>& trials);

/// Returns the first trial without a problem whose steps take at most 5 % longer than the fastest.
/// Null if all trials have a problem.
const DeviceTrial* find_fastest(const std::vector<DeviceTrial>& trials);

}  // namespace trainer::train
