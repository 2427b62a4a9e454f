// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "trainer/nn/spec/spec.h"
#include "trainer/torch/device/memory.h"

namespace trainer::model {

class DropoutMasks;

/// The parameters of dropout noise. On all devices each element depends only on these values and on
/// its layer, row and column (nn/cpu/kernels.h).
struct DropoutNoise {
  uint64_t seed = 0;
  int64_t first_row = 0;      // index of the batch's first row in the window of the step
  double dropout_factor = 1;  // multiplies the dropout probabilities
  /// For accelerators: masks that are drawn already. If null, the pass draws them, and waits for
  /// the copies.
  std::shared_ptr<const DropoutMasks> masks = nullptr;
};

/// The dropout noise of one pass on an accelerator. The CPU draws it, so that all devices get the
/// same noise. Its memory on the device stays the same from pass to pass.
class DropoutMasks {
 public:
  /// Draws the noise of all layers for a batch of `num_rows` rows, and copies it to the device.
  /// Waits for the copies only if `uploads` is null; else it keeps their memory.
  void draw(const network::NetworkSpec& network, const DropoutNoise& noise, int64_t num_rows,
            c10::Device device, device::Uploads* uploads);

  /// The factors `[rows * members, columns]` of a layer: 0 with its probability, else 1 / (1 -
  /// probability).
  at::Tensor factors(const network::Dropout& layer, at::ScalarType dtype) const;

 private:
  struct Layer {
    uint32_t stream = 0;
    double probability = -1;  // the probability that `scale` is for
    at::Tensor memory = {};   // memory for the largest batch so far
    at::Tensor kept = {};     // [rows * members, columns] bytes of `memory`, 0 or 1
    at::Tensor scale = {};    // 0-d: 1 / (1 - probability)
  };

  Layer& layer(uint32_t stream);
  std::size_t find(uint32_t stream) const;  // layers_.size(): not found

  std::vector<Layer> layers_;
};

}  // namespace trainer::model
