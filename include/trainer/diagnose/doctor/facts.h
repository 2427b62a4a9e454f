// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trainer/base/io/terminal.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/nn/cpu/peak.h"
#include "trainer/run/folder/system_info.h"

/// What `trainer doctor` examines. The facts are collected first (diagnose/doctor/collect.h,
/// train/engine/engine.h), then checked by functions that use nothing else
/// (diagnose/doctor/checks.h).
namespace trainer::doctor {

/// The CPU, and how much of it this process may use.
struct CpuFacts {
  std::string model = {};
  bool is_x86 = false;
  std::vector<std::string> instructions = {};  // vector_instructions()
  std::string kernels = {};                    // the instruction set of the fused step
  int64_t num_logical = 1;
  CpuLimits limits = {};
  int64_t num_usable = 1;
  double load = 0;                   // load average of the last minute
  std::string omp_num_threads = {};  // value of OMP_NUM_THREADS; empty: not set
};

/// The speed of arithmetic and of main memory, measured with the kernels of this program.
struct SpeedFacts {
  double flops_of_one_thread = 0;  // floating-point operations per second
  int64_t num_threads = 1;
  cpu::Peak peak = {};  // of `num_threads` threads together
};

/// The sizes of main memory and swap, in bytes.
struct MemoryFacts {
  int64_t machine = 0;
  std::optional<int64_t> total = {};      // limited by the cgroup; none: unknown
  std::optional<int64_t> available = {};  // limited by the cgroup; none: unknown
  int64_t swap = 0;
  int64_t swap_used = 0;
};

/// The limits of this process. A value that is not set means no limit.
struct LimitFacts {
  std::optional<uint64_t> address_space = {};  // bytes
  std::optional<uint64_t> open_files = {};
};

/// The folder where runs are written, and the speed of its disk.
struct FolderFacts {
  std::filesystem::path path = {};      // as the user gave it
  std::filesystem::path existing = {};  // the folder itself, or its nearest parent that exists
  std::string problem = {};             // why no run can be written there; then all else is unknown
  std::string file_system = {};         // "ext4"; empty: unknown
  uint64_t free_bytes = 0;
  double bytes_per_second = 0;    // written and synced; 0: not measured
  double sync_seconds = 0;        // median time to write and sync a short text; 0: not measured
  std::string lock_problem = {};  // why files cannot be locked there; empty: they can
};

/// An optional library, which only some features need.
struct LibraryFacts {
  std::string name = {};
  bool is_there = false;
  std::string text = {};     // its version, or why it cannot be used
  std::string purpose = {};  // which features need it
  std::string advice = {};   // how to install it; empty if it can be used
};

/// The terminal at standard output, and what it supports.
struct TerminalFacts {
  bool is_terminal = false;  // false: standard output is a file or a pipe
  Terminal features = {};
  std::string name = {};    // value of TERM
  std::string locale = {};  // LC_ALL, else LC_CTYPE, else LANG
};

/// The launcher that started this process, and the rank that it gave to this process.
struct LauncherFacts {
  std::string problem = {};  // what is wrong with the variables of the launcher; empty: nothing
  std::string name = {};     // "torchrun"; empty: no launcher
  int64_t rank = 0;
  int64_t size = 1;
};

/// How well a device supports a precision.
struct PrecisionFacts {
  std::string name = {};
  std::string support = {};  // "good", "slow", "not supported"
  std::string text = {};     // why the support is not good
};

/// A few training steps of a small network on a device, compared with steps of LibTorch's autograd
/// on the CPU.
struct DeviceFacts {
  std::string name = {};     // "cuda:0"
  std::string step = {};     // "fused", "autograd"
  std::string problem = {};  // why the steps failed; empty: they did not
  double step_seconds = 0;   // the median
  double difference = 0;     // largest difference of a weight, relative to the largest weight
  std::vector<PrecisionFacts> precisions = {};
};

/// Results of tests with LibTorch: matrix products and a few training steps on each device.
struct EngineFacts {
  std::string problem = {};   // why LibTorch cannot be used; then all else is unknown
  std::string libtorch = {};  // version
  std::string library = {};   // path of the library file
  double blas_flops = 0;      // per second, of a matrix product with all usable CPUs
  std::vector<DeviceFacts> devices = {};
};

/// The paths of the OpenMP runtimes and of the BLAS libraries that are loaded into this process.
struct LoadedFacts {
  std::vector<std::string> openmp = {};
  std::vector<std::string> blas = {};  // empty: none, or it is inside LibTorch
};

/// The BLAS library that LibTorch uses, and whether it suits the CPU.
struct BlasFacts {
  run::BlasInfo blas = {};
  run::Vectors vectors = run::Vectors::kOlder;  // the vector instructions of this CPU
  bool core_is_set = false;                     // the user has set OPENBLAS_CORETYPE
};

}  // namespace trainer::doctor
