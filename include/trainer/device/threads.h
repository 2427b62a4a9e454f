// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace trainer::device {

/// A number of threads and why it was taken.
struct ThreadChoice {
  int64_t num_threads = 1;
  std::string reason;
};

/// `requested` threads, or for 0 OMP_NUM_THREADS where `omp_num_threads` is set; nothing where
/// neither says a number.
std::optional<ThreadChoice> choose_threads(int64_t requested, const char* omp_num_threads);

/// Makes LibTorch and its BLAS compute with that many threads.
void use_threads(int64_t num_threads);

}  // namespace trainer::device
