// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/nn/spec/spec.h"

namespace trainer::cpu {

/// Returns the seconds that the forward and backward pass of one batch take on this machine with
/// `num_threads`: the shortest of several tries with random numbers. Measures for about 0.1 s, or
/// as long as a single pass takes. Throws as the constructor of Network does.
double measure_step(const network::NetworkSpec& spec, int64_t batch_size, int64_t num_threads);

}  // namespace trainer::cpu
