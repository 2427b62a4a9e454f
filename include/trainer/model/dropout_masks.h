// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "trainer/device/upload.h"
#include "trainer/network/spec.h"

namespace trainer::model {

class DropoutMasks;

/// What dropout noise depends on: on all devices each element is a function of these values, its
/// layer, row and column (cpu/kernels.h).
struct DropoutNoise {
  uint64_t seed = 0;
  int64_t first_row = 0;      // of the batch in the window of the step
  double dropout_factor = 1;  // of the probabilities
  /// For accelerators, drawn already; null: the pass draws them, and waits for the copies.
  std::shared_ptr<const DropoutMasks> masks = nullptr;
};

/// The dropout noise of one pass on an accelerator. The CPU draws it, so that all devices get the
/// same. It stays in the same memory of the device from pass to pass.
class DropoutMasks {
 public:
  /// Draws and copies that of a batch of `num_rows` for all layers. Does not wait for the copies if
  /// `uploads` keeps their memory.
  void draw(const network::NetworkSpec& network, const DropoutNoise& noise, int64_t num_rows,
            c10::Device device, device::Uploads* uploads);

  /// The factors `[rows * members, columns]` of a layer: 0 with its probability, else 1 / (1 -
  /// probability).
  at::Tensor factors(const network::Dropout& layer, at::ScalarType dtype) const;

 private:
  struct Layer {
    uint32_t stream = 0;
    double probability = -1;  // that of `scale`
    at::Tensor memory = {};   // for the largest batch so far
    at::Tensor kept = {};     // [rows * members, columns] bytes of it, 0 or 1
    at::Tensor scale = {};    // 0-d
  };

  Layer& layer(uint32_t stream);
  std::size_t find(uint32_t stream) const;  // layers_.size(): it has none

  std::vector<Layer> layers_;
};

}  // namespace trainer::model
