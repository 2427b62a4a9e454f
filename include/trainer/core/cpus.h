// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace trainer {

/// The number of CPUs that this process may use: by its affinity and the cgroup's quota. At
/// least 1.
int64_t usable_cpus();

/// The number of threads that OMP_NUM_THREADS asks for, given its text: the first of a list such as
/// "4,2". Nothing if it is null or not a list of numbers from 1 to 1,024.
std::optional<int64_t> openmp_threads(const char* omp_num_threads);

/// Whether this CPU has instructions for products in bf16: AVX512-BF16 on x86-64, FEAT_BF16 on Arm.
bool has_bf16();

/// Whether this CPU has instructions for products in fp16: AVX512-FP16 on x86-64, FEAT_FP16 on Arm.
bool has_fp16();

}  // namespace trainer
