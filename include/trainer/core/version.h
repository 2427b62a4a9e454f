// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainer {

/// Facts about the build of this program.
struct BuildInfo {
  std::string version;
  std::string git_commit;  // full hash, or "unknown" outside a repository
  bool git_dirty = false;  // tracked files differed from the commit
  std::string date;        // of the commit, else of the build: "2026-11-25"
  std::string compiler;
  std::string build_type;
  std::string libtorch;      // version that it was compiled against
  bool system_blas = false;  // LibTorch takes its BLAS from the system's libblas
};

/// The facts of this program's build.
const BuildInfo& build_info();

}  // namespace trainer
