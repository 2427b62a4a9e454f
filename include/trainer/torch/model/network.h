// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/config/optimizer_config.h"
#include "trainer/config/types.h"
#include "trainer/nn/spec/spec.h"
#include "trainer/torch/model/dropout_masks.h"
#include "trainer/torch/model/loss.h"
#include "trainer/torch/model/parameters.h"

namespace trainer::model {

using network::Mode;

/// Which parameters are trained, and how the network is computed.
struct NetworkOptions {
  std::vector<std::string> freeze;  // patterns of parameter names, see matches_any()
  std::vector<config::LearningRateFactor> lr_factors = {};
  config::Precision precision = config::Precision::kFp32;
  bool activation_checkpointing = false;
};

/// A network with its tensors, computed with LibTorch's operations on any device. A batch norm
/// whose parameters are frozen uses its running statistics in training too. With the precision fp16
/// or bf16, linear layers are computed and values between layers are stored in it; norms and the
/// parameters themselves stay float32, as with torch.autocast. With activation checkpointing the
/// values of most layers are recomputed for the gradient instead of being kept.
class Network {
 public:
  Network(network::NetworkSpec spec, NetworkOptions options, c10::Device device);

  /// Returns the outputs (logits, or predictions of a regression) `[batch, num_outputs]` for scaled
  /// features `[batch, num_features]`; in training mode `[batch * members, num_outputs]`. In
  /// training mode dropout is active, and batch norm updates its buffers.
  at::Tensor forward(const at::Tensor& features, Mode mode, const DropoutNoise& noise = {}) const;

  const network::NetworkSpec& spec() const { return spec_; }
  const NetworkOptions& options() const { return options_; }
  FlatParameters& parameters() { return parameters_; }
  const FlatParameters& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }
  /// All buffers as one flat tensor, which can be copied in one call; undefined if there are none.
  const at::Tensor& buffer_values() const { return buffer_values_; }
  /// The indices of the features that layer `index` embeds, int64 on the device; undefined if the
  /// layer does not embed numbers.
  const at::Tensor& embedded_columns(std::size_t index) const { return embedded_columns_[index]; }

  /// All parameters and buffers by name, in the order of network::tensors(), as views, not copies.
  std::vector<NamedTensor> state() const;

 private:
  network::NetworkSpec spec_;
  NetworkOptions options_;
  FlatParameters parameters_;
  at::Tensor buffer_values_;
  std::vector<NamedTensor> buffers_;
  std::vector<at::Tensor> embedded_columns_;  // [layers]
};

/// Whether the initial parameters or buffers of the network depend on training rows.
bool needs_data(const network::NetworkSpec& network);

/// Training rows on the CPU, which should be at least 5.
struct TrainingRows {
  at::Tensor features;  // [rows, num_features], scaled
  Targets targets = at::Tensor();
};

/// Sets the initial parameters. They depend only on the spec of the network, `seed` and, if
/// needs_data(), on `rows`. All numbers are drawn and computed on the CPU, so that all devices
/// start with the same weights.
void initialize(Network& network, uint64_t seed, const TrainingRows& rows = {});

}  // namespace trainer::model
