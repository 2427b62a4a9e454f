// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::device {

/// Sets LibTorch's generators of every device to numbers that (seed, step) alone decides. Called
/// before each step that draws random numbers: no generator state has to be saved to resume.
void seed_step(uint64_t seed, int64_t step);

}  // namespace trainer::device
