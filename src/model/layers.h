// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>

#include "trainer/config/config.h"
#include "trainer/model/mlp.h"

/// What the forward pass and the gradient that is written out have in common.
namespace trainer::model {

// PyTorch's defaults of nn.BatchNorm1d and nn.LayerNorm.
inline constexpr double kBatchNormMomentum = 0.1;
inline constexpr double kNormEpsilon = 1e-5;

/// `tensor` in the number format of the model's products; in fp32 `tensor` itself.
at::Tensor lowered(const at::Tensor& tensor, const MlpOptions& options);

/// The place of a layer's weight among the parameters; its bias and its norm's follow it.
std::size_t first_parameter(const MlpOptions& options, std::size_t layer);

/// Which rows of an embedding the features name: `[batch]` int64.
at::Tensor rows_of_table(const at::Tensor& features, const MlpOptions& options, std::size_t table);

/// What goes into the first layer, `[batch, num_inputs]`: `features` with the rows that the last of
/// them name. `parameters` are those of the model.
at::Tensor with_embeddings(const at::Tensor& features, const MlpOptions& options,
                           const std::vector<at::Tensor>& parameters);

at::Tensor activate(const at::Tensor& hidden, config::Activation activation);

/// The factors of dropout, as `hidden` is: zeros with that probability, else 1 / (1 - probability).
at::Tensor dropout_factors(const at::Tensor& hidden, double probability, std::size_t layer,
                           const DropoutNoise& noise);

}  // namespace trainer::model
