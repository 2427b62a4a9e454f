// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer {

/// The version of this program, its source and the tools that built it.
struct BuildInfo {
  std::string version;
  std::string git_commit;  // full hash, or "unknown" outside a repository
  bool git_dirty = false;  // tracked files differed from the commit
  std::string date;        // date of the commit, or of the build if unknown: "2026-11-25"
  std::string compiler;
  std::string build_type;
  std::string libtorch;      // version that it was compiled against
  bool system_blas = false;  // LibTorch takes its BLAS from the system's libblas
};

/// Returns the facts that the build compiled into this program.
const BuildInfo& build_info();

}  // namespace trainer
