// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "trainer/apply/model.h"
#include "trainer/cpu/operands.h"

namespace trainer::apply {

/// The weights of `member` as the kernels take them; none is trained.
std::vector<cpu::TensorMemory> tensor_memory(const Member& member);

/// `features` as data::encode makes them, which the kernels scale. Both must outlive it.
cpu::GatherSource gather_source(const data::Matrix& features, const data::Scaling& scaling);

}  // namespace trainer::apply
