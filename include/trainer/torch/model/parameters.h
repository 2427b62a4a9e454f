// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/nn/cpu/product.h"
#include "trainer/nn/spec/tensor_spec.h"

namespace trainer::model {

using cpu::Accumulate;

/// A parameter or buffer with its name in the state dict.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// Trained parameters that are contiguous and have the same factors of the update, like a parameter
/// group of PyTorch's optimizers.
struct ParameterGroup {
  int64_t begin = 0;  // elements [begin, end)
  int64_t end = 0;
  network::Decay decay = network::Decay::kNo;
  network::UpdateFactors factors = {};

  int64_t size() const { return end - begin; }
};

/// All parameters of a model as views of one contiguous buffer, and their gradients in another, so
/// that clipping, update and copy are one pass each, on every device. Decayed parameters come
/// first, frozen ones last. Each parameter is aligned to 64 bytes; the padding is always zero.
struct FlatParameters {
  at::Tensor values;                   // [n]
  at::Tensor gradients;                // [n]
  int64_t num_trained = 0;             // elements [0, num_trained) are trained
  std::vector<ParameterGroup> groups;  // the groups of the trained elements, in order
  std::vector<network::TensorSpec> specs;
  std::vector<bool> is_trained;        // [specs]
  std::vector<int64_t> offsets;        // [specs] first element in the buffers
  std::vector<at::Tensor> parameters;  // [specs] views; trained ones are leaves of autograd
  std::vector<std::size_t> by_offset;  // indices of the trained specs, ordered by offset
  at::Tensor padding;                  // zeros, the longest padding after a parameter

  /// The number of elements of all parameters, without the padding.
  int64_t num_parameters() const;
  /// The number of elements of all parameters that are not trained.
  int64_t num_frozen() const;
};

/// Allocates zeroed parameters for `specs` on `device`. Parameters whose names match a pattern of
/// `freeze` (see matches_any() in base/text/parse.h) are not trained. Throws Error(kOutOfMemory) if
/// they do not fit into the memory of the CPU.
FlatParameters make_flat_parameters(std::vector<network::TensorSpec> specs,
                                    const std::vector<std::string>& freeze, c10::Device device);

/// Discards the gradients that autograd has stored with the parameters.
void forget_gradients(FlatParameters& flat);

/// Moves the gradients that autograd has stored with the parameters to `flat.gradients`, in at most
/// two operations for any number of parameters.
void collect_gradients(FlatParameters& flat, Accumulate accumulate);

/// Returns a view of the trained elements of `buffer`, which has the layout of `flat.values`.
at::Tensor trained_range(const FlatParameters& flat, const at::Tensor& buffer);

/// Returns a view of parameter `index` in `buffer`, which has the layout of `flat.values`.
at::Tensor parameter_view(const FlatParameters& flat, const at::Tensor& buffer, std::size_t index);

}  // namespace trainer::model
