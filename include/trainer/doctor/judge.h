// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trainer/doctor/facts.h"

namespace trainer::doctor {

/// kNote: it works, and could be better. kProblem: something will fail.
enum class Status { kGood, kNote, kProblem };

/// One line of the doctor.
struct Finding {
  std::string name = {};  // "open files"
  Status status = Status::kGood;
  std::string text = {};
  std::string advice = {};  // what to do; empty where it is good

  bool operator==(const Finding&) const = default;
};

/// The CPU, how many, the threads of OpenMP, the load.
std::vector<Finding> judge(const CpuFacts& cpu);
/// The peak, which is what it is.
Finding judge(const SpeedFacts& speed);
/// Memory and swap.
std::vector<Finding> judge(const MemoryFacts& memory);
/// Open files, and the address space if it is limited.
std::vector<Finding> judge(const LimitFacts& limits);
/// The folder, and its disk if that was measured.
std::vector<Finding> judge(const FolderFacts& folder);
/// A library; a note if it is missing.
Finding judge(const LibraryFacts& library);
/// The terminal; a note if its locale has no UTF-8.
Finding judge(const TerminalFacts& terminal);
/// The processes of the launcher.
Finding judge(const LauncherFacts& launcher);
/// LibTorch and each device.
std::vector<Finding> judge(const EngineFacts& engine);
/// `blas_flops` a second, of products with all usable CPUs; 0: not measured.
Finding judge(const BlasFacts& facts, double blas_flops, const SpeedFacts& speed);

/// "good", "note", "problem".
const char* name_of(Status status);

/// The worst of them.
Status worst(const std::vector<Finding>& findings);

/// "2 notes, no problem".
std::string summary_text(const std::vector<Finding>& findings);

}  // namespace trainer::doctor
