// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trainer/doctor/facts.h"

/// The facts that need no LibTorch. None of these functions throws: what cannot be found out is
/// missing, or is the problem that the facts tell.
namespace trainer::doctor {

/// The CPU, now.
CpuFacts cpu_facts();

/// Measures for about 0.3 s.
SpeedFacts measure_speed();

/// Main memory and swap, now.
MemoryFacts memory_facts();

/// What `ulimit` says of this process.
LimitFacts limit_facts();

/// Writes up to 64 MiB into the folder, or where it would be made, for at most about a second, and
/// removes it. Makes no folder.
FolderFacts measure_folder(const std::filesystem::path& path);

/// The libraries that this one was built with or opens: DuckDB, SQLite, zstd.
std::vector<LibraryFacts> library_facts();

/// Standard output.
TerminalFacts terminal_facts();

/// What the variables of launchers say.
LauncherFacts launcher_facts();

/// The environment variables that change what LibTorch, BLAS, OpenMP or this program do, with their
/// values, in order.
std::vector<std::pair<std::string, std::string>> environment_facts();

}  // namespace trainer::doctor
