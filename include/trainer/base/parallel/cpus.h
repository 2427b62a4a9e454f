// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/text/enum_names.h"

namespace trainer {

/// What limits the CPUs that this process may use.
struct CpuLimits {
  int64_t affinity = 1;  // number of CPUs on which it may run
  double quota = 0;      // CPU time that the cgroup grants, in CPUs; 0: no quota
};

/// Returns the limits that the system applies to this process at the moment.
CpuLimits cpu_limits();

/// The number of CPUs that this process may use: the smaller of its affinity and the cgroup's
/// quota, rounded down. At least 1.
int64_t usable_cpus();

/// The number of threads that the value of OMP_NUM_THREADS asks for: the first of a list such as
/// "4,2". Nothing if it is null or not a list of numbers from 1 to 1,024.
std::optional<int64_t> openmp_threads(const char* omp_num_threads);

/// Whether the CPU and the operating system support AVX2 and fused multiply-adds.
bool has_avx2();

/// Whether the CPU and the operating system support AVX-512 with the extensions F, VL, DQ and BW.
bool has_avx512();

/// The names of the instruction sets of this CPU for matrix products, the oldest first: "AVX2",
/// "AVX-512", "AVX512-BF16", "AVX512-FP16", "AMX"; on Arm "NEON", "BF16", "FP16".
std::vector<std::string> vector_instructions();

/// Whether this CPU has instructions for products in bf16: AVX512-BF16 on x86-64, FEAT_BF16 on Arm.
bool has_bf16();

/// Whether products in bf16 are faster than in fp32 here. With AVX512-BF16 alone they are not on
/// Intel's CPUs since Sapphire Rapids, which have AMX for them.
bool has_fast_bf16();

/// Whether this process may use AMX for products in bf16: the CPU has AMX and AVX512-BF16, and the
/// system permits tiles. The first call requests this permission from Linux for all threads.
bool has_amx_bf16();

/// The order in which the products of bf16 operands are summed, with the rounding of the sums. Each
/// kind gives its own bits, which are the same on all machines.
enum class Bf16Products {
  kPairs,  ///< one after the other, odd before even in each pair: AVX512-BF16 and plain code
  kAmx,    ///< even and odd products of each 32 depths in separate sums: AMX
  kArm,    ///< two products at a time, sums rounded to odd: BFMMLA of Arm
};

/// The names of the kinds in checkpoints and messages: "pairs", "amx" and "arm".
template <>
std::span<const std::string> enum_names<Bf16Products>();

/// Whether this CPU has instructions for products in fp16: AVX512-FP16 on x86-64, FEAT_FP16 on Arm.
bool has_fp16();

}  // namespace trainer
