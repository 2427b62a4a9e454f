// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cpu/kernels.h"

namespace trainer::cpu {

// Defined in kernels_baseline.cpp, kernels_avx2.cpp and kernels_avx512.cpp.
extern const Kernels kBaselineKernels;  // for every machine of this architecture
#ifdef __x86_64__
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

}  // namespace trainer::cpu
