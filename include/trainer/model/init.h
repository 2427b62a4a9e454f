// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "trainer/model/network.h"

namespace trainer::model {

/// Sets the initial parameters, a pure function of the network's spec and `seed`: random numbers
/// are drawn on the CPU, so that all devices start with the same weights.
void initialize(Network& network, uint64_t seed);

}  // namespace trainer::model
