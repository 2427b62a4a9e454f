// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/config/types.h"
#include "trainer/model/parameters.h"
#include "trainer/network/spec.h"

namespace trainer::model {

using network::Mode;

struct NetworkOptions {
  std::vector<std::string> freeze;  // patterns of parameter names, see core/text.h
  config::Precision precision = config::Precision::kFp32;
  bool activation_checkpointing = false;
};

/// What the noise of dropout follows from: on the CPU each element is a function of these and its
/// place (cpu/kernels.h), on other devices it is drawn by LibTorch's generators, seeded with these
/// and the layer.
struct DropoutNoise {
  uint64_t seed = 0;
  int64_t first_row = 0;  // the batch's in the window of the step
};

/// A network with its tensors, computed with LibTorch's operations on any device. A batch norm
/// whose parameters are frozen uses its running statistics in training too. In fp16 or bf16 the
/// linear layers compute so, and what lies between them is stored so; norms and the parameters
/// themselves stay float32, as with torch.autocast. With activation checkpointing the values of
/// most layers are computed again for the gradient in place of being kept.
class Network {
 public:
  Network(network::NetworkSpec spec, NetworkOptions options, c10::Device device);

  /// Logits or predictions `[batch, num_outputs]` of features `[batch, num_features]`. In training
  /// mode dropout takes part, and batch norm updates its buffers.
  at::Tensor forward(const at::Tensor& features, Mode mode, const DropoutNoise& noise = {}) const;

  const network::NetworkSpec& spec() const { return spec_; }
  const NetworkOptions& options() const { return options_; }
  FlatParameters& parameters() { return parameters_; }
  const FlatParameters& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }
  /// All buffers as one tensor, to be copied at once.
  const at::Tensor& buffer_values() const { return buffer_values_; }

  /// Parameters and buffers by name, in the order of network::tensors(); views, not copies.
  std::vector<NamedTensor> state() const;

 private:
  network::NetworkSpec spec_;
  NetworkOptions options_;
  FlatParameters parameters_;
  at::Tensor buffer_values_;
  std::vector<NamedTensor> buffers_;
};

}  // namespace trainer::model
