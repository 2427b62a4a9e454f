// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/nn/cpu/kernels.h"

namespace trainer::cpu {

// The kernels of each instruction set, defined in kernels_baseline.cpp, kernels_avx2.cpp and
// kernels_avx512.cpp.
extern const Kernels kBaselineKernels;  // for every machine of this architecture
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
// Kernels::multiply_bf16 with the instructions of AVX512-BF16 and of AMX, defined in
// kernels_avx512_bf16.cpp and kernels_amx.cpp.
extern void (*const kMultiplyAvx512Bf16)(const Product& product, float* scratch);
extern void (*const kMultiplyAmx)(const Product& product, float* scratch);
#elif defined(__aarch64__)
// Kernels::multiply_bf16 with the bf16 instructions of Arm, defined in kernels_neon_bf16.cpp.
extern void (*const kMultiplyNeonBf16)(const Product& product, float* scratch);
#endif

}  // namespace trainer::cpu
