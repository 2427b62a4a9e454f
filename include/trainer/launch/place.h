// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

// What the launcher of this process tells it, and what it tells its launcher.

namespace trainer::launch {

/// The program that started the processes of a run. kVariables: an unknown one that sets RANK and
/// WORLD_SIZE, such as Kubernetes' PyTorchJob.
enum class Launcher : uint8_t { kNone, kTorchrun, kOpenMpi, kMpich, kSlurm, kVariables };

/// Returns the name of a launcher in messages, such as "torchrun" or "mpirun (Open MPI)"; empty for
/// kNone.
std::string name_of(Launcher launcher);

/// The rank of this process among all processes of the run, and among those on this machine.
struct Place {
  Launcher launcher = Launcher::kNone;
  int64_t rank = 0;  // [0, size)
  int64_t size = 1;
  int64_t local_rank = 0;  // [0, local_size), among the processes of this machine
  int64_t local_size = 1;
  int64_t restarts = 0;  // how often the launcher has started the run again

  bool operator==(const Place&) const = default;
};

/// Returns the name of this machine. Processes that get the same name are on one machine.
std::string host_name();

/// Returns the value of an environment variable, or nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// Looks a variable up in the environment of this process.
std::optional<std::string> process_environment(const char* name);

/// Returns the ranks that the innermost launcher gave to this process: torchrun, else Open MPI,
/// else MPICH or Intel MPI, else Slurm's srun. Without a launcher, or in a batch script of Slurm,
/// the process is alone. Throws Error(kDevice) if a launcher's variables are incomplete, are not
/// numbers, or contradict each other or another launcher's.
Place find_place(const Environment& environment);

/// Makes the kernel send SIGTERM to this process when its launcher is killed, as the process would
/// be left behind otherwise. Has an effect on Linux only.
void stop_with_launcher();

/// Writes why this process failed to the file that torchrun's agent shows to the user, if
/// TORCHELASTIC_ERROR_FILE names one. Does not throw.
void report_failure(const Environment& environment, const std::string& message) noexcept;

}  // namespace trainer::launch
