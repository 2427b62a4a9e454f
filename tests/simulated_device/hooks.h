// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>

namespace trainer::test::simulated {

/// The generator of the device's random numbers. Before LibTorch 2, at::manual_seed() knows none of
/// MPS: there it is the CPU's.
const at::Generator& generator();

}  // namespace trainer::test::simulated
