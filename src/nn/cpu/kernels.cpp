// SPDX-License-Identifier: Apache-2.0
#include "trainer/nn/cpu/kernels.h"

#include <cstdlib>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"

#include "nn/cpu/kernel_table.h"

namespace trainer::cpu {

namespace {

[[maybe_unused]] Kernels with_bf16(Kernels kernels, const char* name,
                                   decltype(Kernels::multiply_bf16) multiply,
                                   Bf16Products products) {
  kernels.name = name;
  kernels.multiply_bf16 = multiply;
  kernels.bf16_products = products;
  kernels.has_bf16 = true;
  return kernels;
}

#if defined(__x86_64__)
const Kernels& avx512_bf16_kernels() {
  static const Kernels kernels =
      with_bf16(kAvx512Kernels, "avx512_bf16", kMultiplyAvx512Bf16, Bf16Products::kPairs);
  return kernels;
}

const Kernels& amx_kernels() {
  static const Kernels kernels = with_bf16(kAvx512Kernels, "amx", kMultiplyAmx, Bf16Products::kAmx);
  return kernels;
}
#elif defined(__aarch64__)
const Kernels& neon_bf16_kernels() {
  static const Kernels kernels =
      with_bf16(kBaselineKernels, "neon_bf16", kMultiplyNeonBf16, Bf16Products::kArm);
  return kernels;
}
#endif

}  // namespace

std::vector<const Kernels*> all_kernels() {
  std::vector<const Kernels*> all = {&kBaselineKernels};
#if defined(__x86_64__)
  // Each check covers all instruction sets that src/nn/CMakeLists.txt compiles the kernels for.
  if (has_avx2()) all.push_back(&kAvx2Kernels);
  if (has_bf16() && !has_fast_bf16()) all.push_back(&avx512_bf16_kernels());
  if (has_avx512()) all.push_back(&kAvx512Kernels);
  if (has_bf16() && has_fast_bf16()) all.push_back(&avx512_bf16_kernels());
  if (has_amx_bf16()) all.push_back(&amx_kernels());
#elif defined(__aarch64__)
  if (has_bf16()) all.push_back(&neon_bf16_kernels());
#endif
  return all;
}

const Kernels& find_kernels(const std::string& name) {
  std::vector<std::string> known;
  for (const Kernels* kernels : all_kernels()) {
    if (kernels->name == name) return *kernels;
    known.emplace_back(kernels->name);
  }
  throw Error(ErrorKind::kUsage,
              fmt::format("TRAINER_INSTRUCTION_SET: expected what this machine has ({}), got {}",
                          joined(known, " or "), in_quotes(name)));
}

const Kernels& kernels() {
  static const Kernels& chosen = []() -> const Kernels& {
    const char* name = std::getenv("TRAINER_INSTRUCTION_SET");
    return name == nullptr ? *all_kernels().back() : find_kernels(name);
  }();
  return chosen;
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
