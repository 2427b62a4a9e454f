// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cpu/kernels.h"

namespace trainer::cpu {

extern const Kernels baseline_kernels;  // what every machine of this architecture has
#ifdef __x86_64__
extern const Kernels avx2_kernels;
extern const Kernels avx512_kernels;
#endif

}  // namespace trainer::cpu
