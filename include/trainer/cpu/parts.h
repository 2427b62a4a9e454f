// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trainer::cpu {

/// How many parts of `step` elements `size` elements make, the last one perhaps smaller.
constexpr int64_t num_parts(int64_t size, int64_t step) { return (size + step - 1) / step; }

}  // namespace trainer::cpu
