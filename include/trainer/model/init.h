// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "trainer/model/network.h"

namespace trainer::model {

/// Whether initial parameters of the network depend on training rows.
bool needs_data(const network::NetworkSpec& network);

/// Sets the initial parameters, a pure function of the network's spec, `seed` and, if needs_data(),
/// `features` `[rows, num_features]`, scaled, on the CPU; 5 rows or more are of use. All numbers
/// are drawn and computed on the CPU, so that all devices start with the same weights.
void initialize(Network& network, uint64_t seed, const at::Tensor& features = {});

}  // namespace trainer::model
