// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::device {

/// Returns the seed of the dropout noise of a step. It depends on (seed, step) only, so that no
/// generator state has to be saved.
uint64_t dropout_seed(uint64_t seed, int64_t step);

}  // namespace trainer::device
