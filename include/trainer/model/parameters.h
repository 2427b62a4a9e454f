// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/cpu/product.h"
#include "trainer/network/tensor_spec.h"

namespace trainer::model {

using cpu::Accumulate;

/// A parameter or buffer under its name in the state dict.
struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

/// Trained parameters that are next to each other and are updated alike, as a parameter group of
/// PyTorch's optimizers.
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
  std::vector<ParameterGroup> groups;  // of the trained ones, in their order
  std::vector<network::TensorSpec> specs;
  std::vector<bool> is_trained;        // [specs]
  std::vector<int64_t> offsets;        // [specs] first element in the buffers
  std::vector<at::Tensor> parameters;  // [specs] the trained ones are leaves of autograd
  std::vector<std::size_t> by_offset;  // the trained ones in the order of their elements
  at::Tensor padding;                  // zeros, as many as follow a parameter at most

  /// The number of elements without the padding.
  int64_t num_parameters() const;
  /// How many numbers are not trained.
  int64_t num_frozen() const;
};

/// Zeroed storage for `specs` on `device`. Those whose names match a pattern of `freeze` (see
/// matches_any() in core/parse.h) are not trained.
FlatParameters make_flat_parameters(std::vector<network::TensorSpec> specs,
                                    const std::vector<std::string>& freeze, c10::Device device);

/// Drops gradients that autograd has left at the parameters.
void forget_gradients(FlatParameters& flat);

/// Moves the gradients that autograd has left at the parameters to `flat.gradients`, in one or two
/// operations however many parameters there are.
void collect_gradients(FlatParameters& flat, Accumulate accumulate);

/// The trained elements of `buffer`, which has the layout of `flat.values`.
at::Tensor trained_range(const FlatParameters& flat, const at::Tensor& buffer);

/// Parameter `index` in `buffer`, which has the layout of `flat.values`; a view.
at::Tensor parameter_view(const FlatParameters& flat, const at::Tensor& buffer, std::size_t index);

}  // namespace trainer::model
