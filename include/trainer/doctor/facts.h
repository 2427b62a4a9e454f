// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/core/cpus.h"
#include "trainer/core/terminal.h"
#include "trainer/cpu/peak.h"
#include "trainer/run/blas.h"

/// What `trainer doctor` looks at. The facts are collected (doctor/collect.h, engine/engine.h),
/// then judged by functions that know nothing else (doctor/judge.h).
namespace trainer::doctor {

/// Of the CPU, and what this process may use of it.
struct CpuFacts {
  std::string model = {};
  bool is_x86 = false;
  std::vector<std::string> instructions = {};  // vector_instructions()
  std::string kernels = {};                    // the instruction set of the fused step
  int64_t num_logical = 1;
  CpuLimits limits = {};
  int64_t num_usable = 1;
  double load = 0;                   // programs that wanted a CPU, on average of the last minute
  std::string omp_num_threads = {};  // the variable; empty: not set
};

/// Measured by kernels of this program.
struct SpeedFacts {
  double flops_of_one_thread = 0;  // a second
  int64_t num_threads = 1;
  cpu::Peak peak = {};  // of all threads
};

/// In bytes.
struct MemoryFacts {
  int64_t machine = 0;
  std::optional<int64_t> total = {};  // with the limit of the cgroup
  std::optional<int64_t> available = {};
  int64_t swap = 0;
  int64_t swap_used = 0;
};

/// Nothing: no limit.
struct LimitFacts {
  std::optional<uint64_t> address_space = {};  // bytes
  std::optional<uint64_t> open_files = {};
};

/// The folder where runs are written.
struct FolderFacts {
  std::filesystem::path path = {};      // as given
  std::filesystem::path existing = {};  // the same, or the nearest folder above it that is there
  std::string problem = {};             // why no run can be written there; the rest is then unknown
  std::string file_system = {};         // "ext4"; empty: not known
  uint64_t free_bytes = 0;
  double bytes_per_second = 0;  // written and synced; 0: not measured
  double sync_seconds = 0;      // of a small file, the median
  std::string lock_problem = {};
};

/// A library that is needed for some things only.
struct LibraryFacts {
  std::string name = {};
  bool is_there = false;
  std::string text = {};     // its version, or why it cannot be used
  std::string purpose = {};  // what needs it
  std::string advice = {};   // how to get it
};

/// Where results are printed.
struct TerminalFacts {
  bool is_terminal = false;  // standard output
  Terminal features = {};
  std::string name = {};    // TERM
  std::string locale = {};  // LC_ALL, else LC_CTYPE, else LANG
};

/// What started this process.
struct LauncherFacts {
  std::string problem = {};  // with its variables
  std::string name = {};     // empty: nothing started several processes
  int64_t rank = 0;
  int64_t size = 1;
};

/// How well a device computes in a precision.
struct PrecisionFacts {
  std::string name = {};
  std::string support = {};  // "good", "slow", "not supported"
  std::string text = {};     // why it is not good
};

/// Steps of a small network on a device, compared with LibTorch's on the CPU.
struct DeviceFacts {
  std::string name = {};     // "cuda:0"
  std::string step = {};     // "fused", "autograd"
  std::string problem = {};  // why there was no step
  double step_seconds = 0;   // the median
  double difference = 0;     // the largest of a weight, relative to the largest weight
  std::vector<PrecisionFacts> precisions = {};
};

/// LibTorch at work.
struct EngineFacts {
  std::string problem = {};   // why it cannot be used; the rest is then unknown
  std::string libtorch = {};  // version
  std::string library = {};   // the file of LibTorch
  double blas_flops = 0;      // a second, of a product with all usable CPUs
  std::vector<DeviceFacts> devices = {};
};

/// The matrix library of LibTorch.
struct BlasFacts {
  run::BlasInfo blas = {};
  run::Vectors vectors = run::Vectors::kOlder;  // of this CPU
  bool core_is_set = false;                     // OPENBLAS_CORETYPE by the user
};

}  // namespace trainer::doctor
