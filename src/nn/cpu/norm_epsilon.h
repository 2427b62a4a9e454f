// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/spec/layers.h"

#include "nn/cpu/vector.h"  // IWYU pragma: keep (TRAINER_ISA)

namespace trainer::cpu::TRAINER_ISA {

inline constexpr auto kEpsilon = static_cast<float>(network::kNormEpsilon);

}  // namespace trainer::cpu::TRAINER_ISA
