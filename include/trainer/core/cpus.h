// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/core/enum_names.h"

namespace trainer {

/// What limits the CPUs that this process may use.
struct CpuLimits {
  int64_t affinity = 1;  // those it may run on
  double quota = 0;      // of the cgroup: CPUs' worth of time; 0: none
};

/// Of this process, now.
CpuLimits cpu_limits();

/// The number of CPUs that this process may use: by its affinity and the cgroup's quota. At
/// least 1.
int64_t usable_cpus();

/// The number of threads that OMP_NUM_THREADS asks for, given its text: the first of a list such as
/// "4,2". Nothing if it is null or not a list of numbers from 1 to 1,024.
std::optional<int64_t> openmp_threads(const char* omp_num_threads);

/// Whether this CPU, and the system, have AVX2 with fused multiply-adds.
bool has_avx2();

/// Whether they have AVX-512 with the extensions F, VL, DQ and BW.
bool has_avx512();

/// The names of what this CPU has for products of matrices, from the oldest: "AVX2", "AVX-512",
/// "AVX512-BF16", "AVX512-FP16", "AMX"; on Arm "NEON", "BF16", "FP16".
std::vector<std::string> vector_instructions();

/// Whether this CPU has instructions for products in bf16: AVX512-BF16 on x86-64, FEAT_BF16 on Arm.
bool has_bf16();

/// Whether this process may use the instructions of AMX for products in bf16: the CPU has them, and
/// AVX512-BF16, and the system agrees. Linux is asked once for all threads.
bool has_amx_bf16();

/// How the products of a sum are added up where operands are bf16: each kind has bits of its own,
/// the same on all machines.
enum class Bf16Products {
  kPairs,  ///< one after the other, as by AVX512-BF16 and wherever nothing else is used
  kAmx,    ///< even and odd ones of 32 depths apart, by AMX
  kArm,    ///< in twos, rounded to odd, by BFMMLA of Arm
};

/// Their names in checkpoints and messages.
template <>
std::span<const std::string> enum_names<Bf16Products>();

/// Whether this CPU has instructions for products in fp16: AVX512-FP16 on x86-64, FEAT_FP16 on Arm.
bool has_fp16();

}  // namespace trainer
