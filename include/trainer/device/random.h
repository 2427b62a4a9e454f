// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::device {

/// The seed of the noise of dropout in a step, which (seed, step) alone decides: no generator state
/// has to be saved to resume.
uint64_t dropout_seed(uint64_t seed, int64_t step);

/// Sets LibTorch's generators of every device.
void seed_generators(uint64_t seed);

}  // namespace trainer::device
