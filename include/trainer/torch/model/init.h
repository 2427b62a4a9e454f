// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "trainer/torch/model/network.h"

namespace trainer::model {

/// Whether the initial parameters or buffers of the network depend on training rows.
bool needs_data(const network::NetworkSpec& network);

/// Sets the initial parameters. They depend only on the spec of the network, `seed` and, if
/// needs_data(), on `features` `[rows, num_features]`, which are scaled and on the CPU and should
/// have at least 5 rows. All numbers are drawn and computed on the CPU, so that all devices start
/// with the same weights.
void initialize(Network& network, uint64_t seed, const at::Tensor& features = {});

}  // namespace trainer::model
