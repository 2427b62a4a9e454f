// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/config/optimizer_config.h"
#include "trainer/config/types.h"
#include "trainer/model/dropout_masks.h"
#include "trainer/model/parameters.h"
#include "trainer/network/spec.h"

namespace trainer::model {

using network::Mode;

/// What is trained, and how it is computed.
struct NetworkOptions {
  std::vector<std::string> freeze;  // patterns of parameter names, see matches_any()
  std::vector<config::LearningRateFactor> lr_factors = {};
  config::Precision precision = config::Precision::kFp32;
  bool activation_checkpointing = false;
};

/// A network with its tensors, computed with LibTorch's operations on any device. A batch norm
/// whose parameters are frozen uses its running statistics in training too. With precision
/// fp16 or bf16, linear layers compute in it and values between layers are stored in it; norms and
/// the parameters themselves stay float32, as with torch.autocast. With activation checkpointing
/// the values of most layers are recomputed for the gradient instead of being kept.
class Network {
 public:
  Network(network::NetworkSpec spec, NetworkOptions options, c10::Device device);

  /// Logits or predictions `[batch, num_outputs]` of features `[batch, num_features]`. In training
  /// mode dropout is active, and batch norm updates its buffers.
  at::Tensor forward(const at::Tensor& features, Mode mode, const DropoutNoise& noise = {}) const;

  const network::NetworkSpec& spec() const { return spec_; }
  const NetworkOptions& options() const { return options_; }
  FlatParameters& parameters() { return parameters_; }
  const FlatParameters& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }
  /// All buffers as one tensor, which can be copied in one call.
  const at::Tensor& buffer_values() const { return buffer_values_; }
  /// The `features` of layer `index`, if it embeds numbers: int64, on the device.
  const at::Tensor& embedded_columns(std::size_t index) const { return embedded_columns_[index]; }

  /// Parameters and buffers by name, in the order of network::tensors(); views, not copies.
  std::vector<NamedTensor> state() const;

 private:
  network::NetworkSpec spec_;
  NetworkOptions options_;
  FlatParameters parameters_;
  at::Tensor buffer_values_;
  std::vector<NamedTensor> buffers_;
  std::vector<at::Tensor> embedded_columns_;  // [layers]
};

}  // namespace trainer::model
