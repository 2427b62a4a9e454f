// SPDX-License-Identifier: Apache-2.0
#define TRAINER_ISA baseline
#include "nn/cpu/kernel_table.h"

namespace trainer::cpu {

extern const Kernels kBaselineKernels =
    baseline::make_kernels(InstructionSet::kBaseline, "baseline");

}  // namespace trainer::cpu
