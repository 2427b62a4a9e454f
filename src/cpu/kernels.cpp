// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/kernels.h"

#include <cstdlib>

#include <fmt/format.h>

#include "trainer/core/cpus.h"
#include "trainer/core/error.h"
#include "trainer/core/format.h"

#include "cpu/kernel_tables.h"

namespace trainer::cpu {

#ifdef __x86_64__
namespace {

const Kernels& avx512_bf16_kernels() {
  static const Kernels with_bf16 = [] {
    Kernels kernels = kAvx512Kernels;
    kernels.multiply_bf16 = kMultiplyAvx512Bf16;
    kernels.name = "avx512_bf16";
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
  static const Kernels& chosen = [&]() -> const Kernels& {
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
