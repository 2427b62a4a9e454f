// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "trainer/core/timeline.h"
#include "trainer/network/spec.h"

namespace trainer::profile {

/// Bytes of memory by what they are for.
struct MemoryUse {
  int64_t parameters = 0;  // with the running statistics of norms
  int64_t gradients = 0;
  int64_t moments = 0;                      // of the optimizer, and the average of the weights
  std::optional<int64_t> activations = {};  // with their gradients; nothing where LibTorch has them
  int64_t data = 0;                         // of all splits
  int64_t process_peak = 0;                 // resident memory, with LibTorch and all else
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
  int64_t rows = 0;               // that this process computed, in all measured steps
  int64_t steps = 0;              // that were measured; make_profile() knows
  int64_t bytes_per_feature = 4;  // of the data in memory
  int64_t num_moments = 0;        // floats that the optimizer keeps of each parameter
  MemoryUse memory = {};
};

/// Arithmetic of the products with the weights of linear layer `layer` (from 0), in floating-point
/// operations for one row: two for each weight and product. Only forward pass and gradients have
/// products. Nothing if it is not known.
std::optional<double> flops_per_row(const network::NetworkSpec& network, Work work,
                                    std::size_t layer);

/// Bytes that this work reads and writes in all steps, at least: what it has to take from memory if
/// nothing is in a cache. Nothing if it is bound by arithmetic, or not known.
std::optional<double> bytes_moved(const Workload& workload, Work work);

}  // namespace trainer::profile
