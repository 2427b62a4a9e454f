// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/kernels.h"

#include "trainer/core/cpus.h"

#include "cpu/kernel_tables.h"

namespace trainer::cpu {

#ifdef __x86_64__
namespace {

const Kernels& avx512_bf16_kernels() {
  static const Kernels with_bf16 = [] {
    Kernels kernels = kAvx512Kernels;
    kernels.multiply_bf16 = kMultiplyAvx512Bf16;
    kernels.has_bf16 = true;
    return kernels;
  }();
  return with_bf16;
}

}  // namespace
#endif

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> all = {&kBaselineKernels};
#ifdef __x86_64__
  // The flags of src/CMakeLists.txt.
  if (has_avx2()) all.push_back(&kAvx2Kernels);
  if (has_avx512()) all.push_back(&kAvx512Kernels);
  if (has_avx512() && has_bf16()) all.push_back(&avx512_bf16_kernels());
#endif
  return all;
}

const Kernels& kernels() {
  static const Kernels& best = *all_kernels().back();
  return best;
}

const char* instruction_set_name(InstructionSet set) {
  switch (set) {
    case InstructionSet::kAvx512:
      return "AVX-512";
    case InstructionSet::kAvx2:
      return "AVX2";
    case InstructionSet::kBaseline:
      break;
  }
#ifdef __aarch64__
  return "NEON";
#else
  return "baseline";
#endif
}

}  // namespace trainer::cpu
