// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace trainer::cpu {

/// CPUs that this process may use: its affinity, cut to the cgroup's quota. At least 1.
int64_t usable_cpus();

/// The number of threads that `omp_num_threads`, the text of the variable, asks for: of a list, as
/// of "4,2", the first. Nothing where it is null or no list of numbers from 1 to 1,024.
std::optional<int64_t> openmp_threads(const char* omp_num_threads);

/// Whether this CPU has instructions for products of such numbers: AVX512-BF16 or AVX512-FP16 on
/// x86-64, FEAT_BF16 or FEAT_FP16 on Arm.
bool has_bf16();
bool has_fp16();

}  // namespace trainer::cpu
