// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trainer/diagnose/doctor/facts.h"

/// Collects the facts for which LibTorch is not needed. None of these functions throws: facts that
/// cannot be found out keep their default, or the `problem` of the struct says why.

namespace trainer::doctor {

/// Returns the CPU, the limits of this process and the load of the last minute.
CpuFacts cpu_facts();

/// Measures arithmetic and memory with the kernels of this program, for about 0.3 s.
SpeedFacts measure_speed();

/// Returns the sizes of main memory and swap, and how much of them is free at the moment.
MemoryFacts memory_facts();

/// Returns the soft limits of this process, as `ulimit` shows them.
LimitFacts limit_facts();

/// Measures the disk of a folder: writes up to 64 MiB to a file there, or in the folder in which it
/// would be made, for at most about a second, and removes the file. Does not make the folder.
FolderFacts measure_folder(const std::filesystem::path& path);

/// Returns the optional libraries, built in or loaded at run time: DuckDB, SQLite and zstd.
std::vector<LibraryFacts> library_facts();

/// Returns which of these loaded libraries are OpenMP runtimes or a BLAS, by their names.
LoadedFacts loaded_facts(const std::vector<std::filesystem::path>& libraries);

/// Returns what the terminal at standard output supports, if it is one.
TerminalFacts terminal_facts();

/// Returns the rank and the number of processes from the environment variables of a launcher such
/// as torchrun.
LauncherFacts launcher_facts();

/// Returns the names and values of the environment variables that affect LibTorch, BLAS, OpenMP or
/// this program, sorted by name.
std::vector<std::pair<std::string, std::string>> environment_facts();

}  // namespace trainer::doctor
