// SPDX-License-Identifier: Apache-2.0
#ifdef __x86_64__

#define TRAINER_ISA avx2
#include "nn/cpu/kernel_table.h"

namespace trainer::cpu {

extern const Kernels kAvx2Kernels = avx2::make_kernels(InstructionSet::kAvx2, "avx2");

}  // namespace trainer::cpu

#endif
