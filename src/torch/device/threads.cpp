// SPDX-License-Identifier: Apache-2.0
#include "trainer/torch/device/threads.h"

#include <exception>

#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>

#include "trainer/base/parallel/cpus.h"

#ifdef __linux__
#include <dlfcn.h>
#endif

namespace trainer::device {
std::optional<ThreadChoice> choose_threads(int64_t requested, const char* omp_num_threads) {
  if (requested > 0) return ThreadChoice{requested, "as configured"};
  const std::optional<int64_t> from_environment = openmp_threads(omp_num_threads);
  if (!from_environment) return std::nullopt;
  return ThreadChoice{*from_environment, "OMP_NUM_THREADS"};
}

void use_threads(int64_t num_threads) {
  // Each call creates a new thread pool, which spins for tens of milliseconds.
  if (at::get_num_threads() == num_threads) return;
  at::set_num_threads(static_cast<int>(num_threads));
#ifdef __linux__
  // An OpenBLAS with its own threads ignores OpenMP, so its threads would compete with those of
  // LibTorch for the CPUs.
  void* blas = dlopen("libblas.so.3", RTLD_LAZY | RTLD_NOLOAD);
  if (blas == nullptr) return;
  if (void* set = dlsym(blas, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(set)(static_cast<int>(num_threads));
  }
  dlclose(blas);
#endif
}

// A device has one queue, so reading a number back waits for all earlier work. If that work has
// failed, the next operation reports the error.
void TimedDeviceWork::wait() const noexcept {
  try {
    at::zeros({1}, at::TensorOptions().device(device_)).cpu();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace trainer::device
