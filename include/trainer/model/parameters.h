// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/network/spec.h"

namespace trainer::model {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// All parameters of a model as views of one contiguous buffer, their gradients of another. Clip,
/// update and copy are then one pass each, on every device. Decayed parameters come first, frozen
/// ones last. Each parameter begins at a multiple of 64 bytes; the elements between are zero and
/// stay zero.
struct FlatParameters {
  at::Tensor values;        // [n]
  at::Tensor gradients;     // [n]
  int64_t num_decayed = 0;  // elements [0, num_decayed) are decayed
  int64_t num_trained = 0;  // elements [0, num_trained) are trained
  std::vector<network::TensorSpec> specs;
  std::vector<bool> is_trained;  // [specs]
  std::vector<int64_t> offsets;  // [specs] first element in the buffers
  std::vector<at::Tensor>
      parameters;  // [specs] the trained ones: leaves with grad a view of `gradients`

  /// Without the padding.
  int64_t num_parameters() const;
  int64_t num_frozen() const;
};

/// Zeroed storage for `specs` on `device`. Those whose names match a pattern of `freeze` (see
/// core/text.h) are not trained.
FlatParameters make_flat_parameters(std::vector<network::TensorSpec> specs,
                                    const std::vector<std::string>& freeze, c10::Device device);

/// The part of `buffer`, laid out as `flat.values` is, that is trained.
at::Tensor trained_range(const FlatParameters& flat, const at::Tensor& buffer);

/// The part of `buffer`, laid out as `flat.values` is, that belongs to parameter `index`.
at::Tensor parameter_view(const FlatParameters& flat, const at::Tensor& buffer, std::size_t index);

}  // namespace trainer::model
