// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Constants of layers, equal to the defaults of PyTorch. All implementations of the layers use
/// them.
namespace trainer::network {

inline constexpr double kNormEpsilon = 1e-5;  // `eps` of nn.BatchNorm1d and nn.LayerNorm
/// Weight of a new batch in the running statistics.
inline constexpr double kBatchNormMomentum = 0.1;

}  // namespace trainer::network
