// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/network/spec.h"

namespace trainer::cpu {

/// The seconds that forward and backward pass of a batch take on this machine with `num_threads`:
/// the shortest of some tries with random numbers, in a fraction of a second unless one takes
/// longer. Throws as Network does.
double measure_step(const network::NetworkSpec& spec, int64_t batch_size, int64_t num_threads);

}  // namespace trainer::cpu
