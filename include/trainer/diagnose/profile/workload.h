// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "trainer/base/time/timeline.h"
#include "trainer/nn/spec/spec.h"

namespace trainer::profile {

/// Memory in bytes, by what it is used for.
struct MemoryUse {
  int64_t parameters = 0;  // with the running statistics of norms
  int64_t gradients = 0;
  int64_t moments = 0;                      // of the optimizer, and the average of the weights
  std::optional<int64_t> activations = {};  // with their gradients; nothing if LibTorch has them
  int64_t data = 0;                         // of all splits
  int64_t process_peak = 0;                 // resident memory, including LibTorch
  std::optional<int64_t> device_peak = {};  // of an accelerator
};

/// What was trained while times were measured.
struct Workload {
  network::NetworkSpec network;
  std::string device = {};
  std::string precision = {};
  bool uses_kernels = false;  // else LibTorch's autograd
  int64_t num_threads = 1;
  int64_t batch_size = 0;
  int64_t rows = 0;               // computed by this process, in all measured steps
  int64_t steps = 0;              // measured ones; set by make_profile()
  int64_t bytes_per_feature = 4;  // of the data in memory
  int64_t num_moments = 0;        // floats that the optimizer keeps for each parameter
  MemoryUse memory = {};
};

/// Returns the floating-point operations for one row in the products with the weights of linear
/// layer `layer` (from 0): two for each weight and product. Only the forward pass and gradients
/// have products. Nothing for other work and if the number is not known.
std::optional<double> flops_per_row(const network::NetworkSpec& network, Work work,
                                    std::size_t layer);

/// Returns the fewest bytes that this work reads and writes in all steps, if none of them are in a
/// cache. Nothing if arithmetic limits the work, or if the number is not known.
std::optional<double> bytes_moved(const Workload& workload, Work work);

}  // namespace trainer::profile
