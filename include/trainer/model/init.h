// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/model/network.h"

namespace trainer::model {

/// Sets the initial parameters as the network's description says, a pure function of it and `seed`:
/// numbers are drawn on the CPU, so that every device starts from the same ones.
void initialize(Network& network, uint64_t seed);

}  // namespace trainer::model
