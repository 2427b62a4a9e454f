// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/cpu/network_options.h"
#include "trainer/model/parameters.h"

namespace trainer::model {

struct MlpOptions : cpu::NetworkOptions {
  std::vector<std::string> freeze;  // patterns of parameter names, see text.h
  config::Precision precision = config::Precision::kFp32;
  bool activation_checkpointing = false;  // of the gradient that is written out
};

enum class Mode { kTraining, kInference };

/// What the noise of dropout follows from: on the CPU each element is a function of these and its
/// place (cpu/kernels.h), on other devices it is drawn by LibTorch's generators, seeded with these
/// and the layer.
struct DropoutNoise {
  uint64_t seed = 0;
  int64_t first_row = 0;  // the batch's in the window of the step
};

/// A multilayer perceptron. Each hidden layer is linear, norm, activation, dropout; with residuals
/// every hidden layer but the first adds its input. The output layer is linear alone.
/// The rows of embeddings that the last features name go into the first layer in their place.
/// Parameters are called `embeddings.<i>.weight` `[num_rows, size]`, `layers.<i>.weight` `[out,
/// in]`, `layers.<i>.bias` `[out]`, `norms.<i>.weight`, `norms.<i>.bias`; batch norm has the
/// buffers `norms.<i>.running_mean` and `norms.<i>.running_var`. A batch norm whose parameters are
/// frozen uses these in training too. In fp16 or bf16 the linear layers compute so, and what lies
/// between them is stored so; norms and the parameters themselves stay float32, as with
/// torch.autocast.
class Mlp {
 public:
  Mlp(MlpOptions options, c10::Device device);

  /// Logits or predictions `[batch, num_outputs]` of features `[batch, num_features]`. In training
  /// mode dropout takes part, and batch norm updates its buffers.
  at::Tensor forward(const at::Tensor& features, Mode mode, const DropoutNoise& noise = {});

  const MlpOptions& options() const { return options_; }
  FlatParameters& parameters() { return parameters_; }
  const FlatParameters& parameters() const { return parameters_; }
  const std::vector<NamedTensor>& buffers() const { return buffers_; }
  /// All buffers as one tensor, to be copied at once.
  const at::Tensor& buffer_values() const { return buffer_values_; }

  /// Parameters and buffers by name, in the order of the layers; views, not copies.
  std::vector<NamedTensor> state() const;

  int64_t num_layers() const { return static_cast<int64_t>(options_.hidden_sizes.size()) + 1; }

 private:
  at::Tensor normalize(const at::Tensor& linear, std::size_t layer, Mode mode);

  MlpOptions options_;
  FlatParameters parameters_;
  at::Tensor buffer_values_;
  std::vector<NamedTensor> buffers_;
};

}  // namespace trainer::model
