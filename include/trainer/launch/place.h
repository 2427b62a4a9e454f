// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace trainer::launch {

/// What starts a program several times. kVariables: whoever set RANK and WORLD_SIZE, such as
/// Kubernetes' PyTorchJob.
enum class Launcher : uint8_t { kNone, kTorchrun, kOpenMpi, kMpich, kSlurm, kVariables };

/// "torchrun", "mpirun (Open MPI)", ... as messages name it; empty for kNone.
std::string name_of(Launcher launcher);

/// Which process of how many this one is.
struct Place {
  Launcher launcher = Launcher::kNone;
  int64_t rank = 0;  // [0, size)
  int64_t size = 1;
  int64_t local_rank = 0;  // the same among the processes of this machine
  int64_t local_size = 1;
  int64_t restarts = 0;  // how often the launcher has started the run again

  bool operator==(const Place&) const = default;
};

/// The name of this machine: processes with the same one are on one machine.
std::string host_name();

/// The value of an environment variable, or nothing.
using Environment = std::function<std::optional<std::string>(const char* name)>;

/// That of this process.
std::optional<std::string> process_environment(const char* name);

/// The place that the launcher nearest to this process gave it: torchrun, else Open MPI, else
/// MPICH or Intel MPI, else Slurm's srun (not a batch script, which is one process); a process
/// alone without any. Throws Error(kDevice) if a launcher's variables are incomplete, are no
/// numbers, or contradict each other or another launcher's.
Place find_place(const Environment& environment);

}  // namespace trainer::launch
