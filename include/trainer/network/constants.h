// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Constants of layers, which are PyTorch's defaults. All implementations use these.
namespace trainer::network {

inline constexpr double kNormEpsilon = 1e-5;       // of nn.BatchNorm1d and nn.LayerNorm
inline constexpr double kBatchNormMomentum = 0.1;  // of the running statistics

}  // namespace trainer::network
