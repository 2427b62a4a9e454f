// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace trainer {
class JsonReader;
}

namespace trainer::run {

/// Returns facts about machine and build, for system.json and bug reports.
nlohmann::ordered_json system_info();

/// Describes an accelerator of system.json (torch/device/device.h) in words, such as "cuda:0
/// NVIDIA A100, 40.0 GiB, driver 550.54.15".
std::string accelerator_text(const JsonReader& accelerator);

/// Returns the local time with its offset from UTC, such as "2026-11-21T03:45:00+0000".
std::string timestamp();

/// The name and the speed of the matrix library (BLAS) that LibTorch uses.
struct BlasInfo {
  std::string name;       // such as "OpenBLAS 0.3.21 (OpenMP)", or the path of the library
  bool is_slow = false;   // the reference implementation, about 40 times slower than OpenBLAS
  std::string core = {};  // for OpenBLAS: the CPU whose kernels it uses, such as "SkylakeX"
  /// The core that OpenBLAS had chosen before correct_blas_core() changed it, or empty.
  std::string mistaken = {};
};

/// Returns the BLAS that LibTorch uses, or will use once it is loaded.
BlasInfo blas_info();

/// The widest vector instructions of a CPU; kOlder is anything before AVX2.
enum class Vectors { kOlder, kAvx2, kAvx512 };

/// Detects the widest vector instructions of this CPU.
Vectors vectors_of_this_cpu();

/// Returns the core whose kernels OpenBLAS should use on a CPU with these vectors, "SkylakeX" or
/// "Haswell", if the kernels of `core` do not even use AVX2. Nothing if `core` is good enough or
/// unknown.
std::optional<std::string> better_blas_core(std::string_view core, Vectors vectors);

/// OpenBLAS takes CPUs that are newer than itself for much older ones, and then multiplies at a
/// fraction of their speed. If so, and OPENBLAS_CORETYPE is not set, sets it for this process and
/// its children. Must be called before LibTorch is loaded.
void correct_blas_core();

}  // namespace trainer::run
