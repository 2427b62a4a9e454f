// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/kernels.h"

namespace trainer::cpu {

/// The baseline with the products in bf16 of a machine with AMX, whose tiles are emulated by
/// Intel's manual: all that this machine can test of them without AMX, and compare them with if it
/// has it.
const Kernels& emulated_amx_kernels();

}  // namespace trainer::cpu
