// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace trainer::run {

/// The matrix library behind LibTorch.
struct BlasInfo {
  std::string name;      // "OpenBLAS 0.3.21 (OpenMP)", or the file's path
  bool is_slow = false;  // the reference implementation, about 40 times slower than OpenBLAS
};

/// The BLAS that LibTorch uses, or would use when it is loaded.
BlasInfo blas_info();

/// Facts about machine and build, for system.json and bug reports.
nlohmann::ordered_json system_info();

/// "2026-11-21T03:45:00+0000", local time with its offset.
std::string timestamp();

}  // namespace trainer::run
