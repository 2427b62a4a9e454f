// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace trainer::device {

/// A number of threads and the reason for choosing it.
struct ThreadChoice {
  int64_t num_threads = 1;
  std::string reason;
};

/// Returns `requested` threads, or if that is 0, the number in `omp_num_threads`, the value of the
/// environment variable OMP_NUM_THREADS or null. Nothing if neither is set.
std::optional<ThreadChoice> choose_threads(int64_t requested, const char* omp_num_threads);

/// Sets the number of threads of LibTorch and its BLAS.
void use_threads(int64_t num_threads);

}  // namespace trainer::device
