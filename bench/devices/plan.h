// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include <c10/core/Device.h>

#include "trainer/config/config.h"
#include "trainer/torch/device/device.h"

#include "devices/options.h"
#include "devices/results.h"

namespace trainer::bench {

/// A row to measure.
struct RowPlan {
  Setting setting;
  config::Config config;  // complete, with precision and training.step of the row
  c10::Device device = c10::Device(c10::kCPU);
  double max_loss_difference = 0;
};

/// All requested combinations: to measure, or absent with the reason.
struct Plan {
  std::vector<RowPlan> rows;
  std::vector<Missing> absent;
};

/// Where the fused step does not exist, LibTorch's is the only one and gets one row. With --config,
/// reads the configuration and its data, and throws as config::load() and cache::load() do.
Plan make_plan(const Options& options, const device::AvailableDevices& available);

}  // namespace trainer::bench
