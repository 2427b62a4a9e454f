// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainer::run {

/// The matrix library behind LibTorch.
struct BlasInfo {
  std::string name;           // "OpenBLAS 0.3.21 (OpenMP)", or the file's path
  bool is_slow = false;       // the reference implementation, about 40 times slower than OpenBLAS
  std::string core = {};      // of OpenBLAS: the CPU whose kernels it uses, "SkylakeX"
  std::string mistaken = {};  // the core that it had chosen before correct_blas_core(); or empty
};

/// The BLAS that LibTorch uses, or would use when it is loaded.
BlasInfo blas_info();

/// The vectors that a CPU has.
enum class Vectors { kOlder, kAvx2, kAvx512 };

/// Those of this one.
Vectors vectors_of_this_cpu();

/// The core whose kernels OpenBLAS should use on a CPU with these vectors, if those of `core` do
/// not even use AVX2: "SkylakeX" or "Haswell". Nothing if `core` is good enough or not known.
std::optional<std::string> better_blas_core(std::string_view core, Vectors vectors);

/// OpenBLAS takes CPUs that are newer than itself for much older ones, and then multiplies at a
/// fraction of their speed. If so, and OPENBLAS_CORETYPE is not set, sets it for this process and
/// its children. Must be called before LibTorch is loaded.
void correct_blas_core();

}  // namespace trainer::run
