// SPDX-License-Identifier: Apache-2.0
#ifdef __x86_64__

#define TRAINER_ISA avx512_bf16
#include "nn/cpu/kernel_table.h"
#include "nn/cpu/multiply.h"

namespace trainer::cpu {

extern void (*const kMultiplyAvx512Bf16)(const Product& product,
                                         float* scratch) = avx512_bf16::multiply_bf16;

}  // namespace trainer::cpu

#endif
