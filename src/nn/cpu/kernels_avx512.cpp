// SPDX-License-Identifier: Apache-2.0
#ifdef __x86_64__

#define TRAINER_ISA avx512
#include "nn/cpu/kernel_table.h"

namespace trainer::cpu {

extern const Kernels kAvx512Kernels = avx512::make_kernels(InstructionSet::kAvx512, "avx512");

}  // namespace trainer::cpu

#endif
