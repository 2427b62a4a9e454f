// SPDX-License-Identifier: Apache-2.0
#include "trainer/device/threads.h"

#include <optional>

#include <ATen/Parallel.h>

#include "trainer/core/text.h"

namespace trainer::device {
ThreadChoice choose_threads(int64_t requested, const char* omp_num_threads, int64_t usable) {
  if (requested > 0) return {requested, "as configured"};
  if (omp_num_threads != nullptr) {
    const std::optional<int64_t> from_environment = parse_int(omp_num_threads);
    if (from_environment && *from_environment > 0) return {*from_environment, "OMP_NUM_THREADS"};
  }
  return {usable, "auto: the CPUs that this process may use"};
}

void use_threads(int64_t num_threads) { at::set_num_threads(static_cast<int>(num_threads)); }

}  // namespace trainer::device
