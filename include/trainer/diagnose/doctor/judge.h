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

/// Judges the kernels for the CPU, the number of usable CPUs, OMP_NUM_THREADS and the load.
std::vector<Finding> judge(const CpuFacts& cpu);
/// Reports the measured speed; always good.
Finding judge(const SpeedFacts& speed);
/// Judges the available memory (a problem if LibTorch and a small run do not fit) and the use of
/// swap.
std::vector<Finding> judge(const MemoryFacts& memory);
/// Judges the limit of open files, and that of the address space if there is one.
std::vector<Finding> judge(const LimitFacts& limits);
/// Judges the folder, and the speed of its disk if that was measured.
std::vector<Finding> judge(const FolderFacts& folder);
/// Judges an optional library: a note if it is missing.
Finding judge(const LibraryFacts& library);
/// Judges the terminal: a note if its locale is not UTF-8.
Finding judge(const TerminalFacts& terminal);
/// Judges the launcher: a problem if its variables are wrong.
Finding judge(const LauncherFacts& launcher);
/// Judges LibTorch and each device: a problem where training failed or computed wrong weights.
std::vector<Finding> judge(const EngineFacts& engine);
/// Judges the BLAS: a note if it is slow. `blas_flops` are the operations per second of products
/// with all usable CPUs; 0: not measured.
Finding judge(const BlasFacts& facts, double blas_flops, const SpeedFacts& speed);

/// The name of a status in JSON and text: "good", "note" or "problem".
const char* name_of(Status status);

/// The worst status of all findings; kGood if there are none.
Status worst(const std::vector<Finding>& findings);

/// A sentence that counts the problems and notes: "No problem, 2 notes.".
std::string summary_text(const std::vector<Finding>& findings);

}  // namespace trainer::doctor
