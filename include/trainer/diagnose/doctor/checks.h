// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/diagnose/doctor/facts.h"

namespace trainer::doctor {

/// kNote: it works but could be better. kProblem: something will fail.
enum class Status { kGood, kNote, kProblem };

/// One line of the output of `trainer doctor`.
struct Finding {
  std::string name = {};  // "open files"
  Status status = Status::kGood;
  std::string text = {};
  std::string advice = {};  // what the user can do about it; empty for kGood

  bool operator==(const Finding&) const = default;
};

/// Checks the kernels for the CPU, the number of usable CPUs, OMP_NUM_THREADS and the load.
std::vector<Finding> check(const CpuFacts& cpu);
/// Reports the measured speed; always good.
Finding check(const SpeedFacts& speed);
/// Checks the available memory (a problem if LibTorch and a small run do not fit) and the use of
/// swap.
std::vector<Finding> check(const MemoryFacts& memory);
/// Checks the limit of open files, and that of the address space if there is one.
std::vector<Finding> check(const LimitFacts& limits);
/// Checks the folder, and the speed of its disk if that was measured.
std::vector<Finding> check(const FolderFacts& folder);
/// Checks an optional library: a note if it is missing.
Finding check(const LibraryFacts& library);
/// Checks the terminal: a note if its locale is not UTF-8.
Finding check(const TerminalFacts& terminal);
/// Checks the launcher: a problem if its variables are wrong.
Finding check(const LauncherFacts& launcher);
/// Checks LibTorch and each device: a problem where training failed or computed wrong weights.
std::vector<Finding> check(const EngineFacts& engine);
/// Lists the OpenMP runtimes and BLAS libraries of the process: a problem if there are two
/// runtimes.
std::vector<Finding> check(const LoadedFacts& loaded);
/// Checks the BLAS: a note if it is slow. `blas_flops` are the operations per second of products
/// with all usable CPUs; 0: not measured.
Finding check(const BlasFacts& facts, double blas_flops, const SpeedFacts& speed);

/// The name of a status in JSON and text: "good", "note" or "problem".
const char* name_of(Status status);

/// The worst status of all findings; kGood if there are none.
Status worst(const std::vector<Finding>& findings);

/// A sentence that counts the problems and notes: "No problem, 2 notes.".
std::string summary_text(const std::vector<Finding>& findings);

}  // namespace trainer::doctor
