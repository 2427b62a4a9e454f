// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trainer/apply/model.h"
#include "trainer/nn/cpu/operands.h"

namespace trainer::apply {

/// The weights of `member` for the kernels, without memory for gradients.
std::vector<cpu::TensorMemory> tensor_memory(const Member& member);

/// `features` that data::encode() returned, for kernels that gather and scale them. Both arguments
/// must outlive the result.
cpu::GatherSource gather_source(const data::Matrix& features, const data::Scaling& scaling);

}  // namespace trainer::apply
