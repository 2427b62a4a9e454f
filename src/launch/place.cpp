// SPDX-License-Identifier: Apache-2.0
// Launchers tell a process its rank with environment variables. They nest: srun starts torchrun or
// the daemons of mpirun on each machine, and these pass srun's variables on to their processes. So
// the innermost launcher is asked first.
// Sources of the names: torch/distributed/elastic/agent/server/local_elastic_agent.py (torchrun),
// mpirun(1) of Open MPI, the hydra launcher of MPICH, srun(1) of Slurm.
#include "trainer/launch/place.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/text/parse.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

namespace trainer::launch {
namespace {

struct Variables {
  Launcher launcher;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

constexpr Variables kTorchVariables = {Launcher::kVariables, "RANK", "WORLD_SIZE", "LOCAL_RANK",
                                       "LOCAL_WORLD_SIZE"};
constexpr Variables kOpenMpiVariables = {Launcher::kOpenMpi, "OMPI_COMM_WORLD_RANK",
                                         "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
                                         "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr Variables kMpichVariables = {Launcher::kMpich, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
                                       "MPI_LOCALNRANKS"};
constexpr Variables kSlurmVariables = {Launcher::kSlurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS",
                                       "SLURM_LOCALID", ""};
constexpr const char* kSlurmTasks = "SLURM_STEP_TASKS_PER_NODE";

[[noreturn]] void fail(const std::string& problem) {
  throw Error(ErrorKind::kDevice, fmt::format("{}; correct the variables of the launcher, or set "
                                              "distributed.enabled=off to run by itself",
                                              problem));
}

/// Reads variables of launchers. A wrong one is an Error(kDevice).
class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  bool has(const char* name) const { return environment_(name).has_value(); }

  /// Returns the number in the variable `name`, which must be at least `smallest`. `needed_by` is
  /// the variable that requires it to be set.
  int64_t number(const char* name, int64_t smallest, const char* needed_by) const {
    const std::optional<std::string> text = environment_(name);
    if (!text) fail(fmt::format("{} is set, but {} is not", needed_by, name));
    const std::optional<int64_t> value = parse_int(*text);
    if (value && *value >= smallest) return *value;
    fail(fmt::format("{}: expected an integer >= {}, got {}", name, smallest, in_quotes(*text)));
  }

  int64_t number_or(const char* name, int64_t smallest, int64_t otherwise) const {
    return has(name) ? number(name, smallest, name) : otherwise;
  }

  std::string text(const char* name) const { return environment_(name).value_or(""); }

 private:
  const Environment& environment_;
};

void require_below(int64_t rank, int64_t size, const char* rank_name, const char* size_name) {
  if (rank < size) return;
  fail(fmt::format("{} is {}: expected less than {}, which is {}", rank_name, rank, size_name,
                   size));
}

Place read(const Reader& reader, const Variables& names) {
  Place place{names.launcher};
  place.rank = reader.number(names.rank, 0, names.size);
  place.size = reader.number(names.size, 1, names.rank);
  place.local_rank = reader.number_or(names.local_rank, 0, 0);
  require_below(place.rank, place.size, names.rank, names.size);
  require_below(place.local_rank, place.size, names.local_rank, names.size);
  if (*names.local_size == '\0') return place;
  place.local_size = reader.number_or(names.local_size, 1, place.local_rank + 1);
  require_below(place.local_rank, place.local_size, names.local_rank, names.local_size);
  return place;
}

/// Returns the number of tasks on machine `node` according to Slurm's list, or nothing if the list
/// is wrong. "2(x3),1" means that the first three machines have two tasks each and the next one has
/// one.
std::optional<int64_t> tasks_of_node(std::string_view text, int64_t node) {
  while (!text.empty() && node >= 0) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    const size_t times = entry.find("(x");
    const std::optional<int64_t> tasks = parse_int(entry.substr(0, times));
    std::optional<int64_t> nodes = 1;
    if (times != std::string_view::npos) {
      if (!entry.ends_with(')')) return std::nullopt;
      nodes = parse_int(entry.substr(times + 2, entry.size() - times - 3));
    }
    if (!tasks || !nodes || *tasks < 1 || *nodes < 1) return std::nullopt;
    if (node < *nodes) return tasks;
    node -= *nodes;
  }
  return std::nullopt;
}

Place read_slurm(const Reader& reader) {
  Place place = read(reader, kSlurmVariables);
  const int64_t node = reader.number_or("SLURM_NODEID", 0, 0);
  const std::optional<int64_t> tasks = tasks_of_node(reader.text(kSlurmTasks), node);
  if (!tasks || *tasks <= place.local_rank) {
    fail(
        fmt::format("{}: expected the tasks of each node, such as 2(x3),1, with more than {} on "
                    "node {}, got {}",
                    kSlurmTasks, place.local_rank, node, in_quotes(reader.text(kSlurmTasks))));
  }
  place.local_size = *tasks;
  place.restarts = reader.number_or("SLURM_RESTART_COUNT", 0, 0);
  return place;
}

// srun --mpi=pmi2 also sets the variables of MPICH.
bool is_started_by_mpich(const Reader& reader) {
  return reader.has(kMpichVariables.rank) && !reader.has("SLURM_MPI_TYPE");
}

/// Returns what Open MPI, else MPICH, else Slurm says. Without them, the process is alone.
Place find_outer(const Reader& reader) {
  if (reader.has(kOpenMpiVariables.rank)) return read(reader, kOpenMpiVariables);
  if (is_started_by_mpich(reader)) return read(reader, kMpichVariables);
  // A batch script also has the variables of its job, but is one process and not a step.
  if (reader.has("SLURM_STEP_ID") && reader.has(kSlurmVariables.size)) return read_slurm(reader);
  return {};
}

}  // namespace

std::string name_of(Launcher launcher) {
  constexpr std::array<const char*, 6> kNames = {
      "", "torchrun", "mpirun (Open MPI)", "mpiexec (MPICH)", "srun", "RANK and WORLD_SIZE"};
  return kNames[static_cast<size_t>(launcher)];
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Place find_place(const Environment& environment) {
  const Reader reader(environment);
  if (!reader.has(kTorchVariables.size)) return find_outer(reader);
  Place place = read(reader, kTorchVariables);
  if (reader.has("TORCHELASTIC_RUN_ID")) {
    place.launcher = Launcher::kTorchrun;
    place.restarts = reader.number_or("TORCHELASTIC_RESTART_COUNT", 0, 0);
    return place;
  }
  // RANK and WORLD_SIZE may be set by hand, as in a script that mpirun starts. Then they must agree
  // with the launcher.
  const Place outer = find_outer(reader);
  if (outer.size > 1 && (outer.rank != place.rank || outer.size != place.size)) {
    fail(fmt::format("RANK and WORLD_SIZE say process {} of {}, but {} says {} of {}", place.rank,
                     place.size, name_of(outer.launcher), outer.rank, outer.size));
  }
  return place;
}

void stop_with_launcher() {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
}

// The file has no call stack, so the agent shows the message instead. The format is that of
// torch/distributed/elastic/multiprocessing/errors/error_handler.py.
void report_failure(const Environment& environment, const std::string& message) noexcept {
  try {
    const std::optional<std::string> path = environment("TORCHELASTIC_ERROR_FILE");
    if (!path || path->empty()) return;
    const Json content = {{"message",
                           {{"message", message},
                            {"extraInfo", {{"timestamp", std::to_string(std::time(nullptr))}}}}}};
    std::ofstream(*path) << content.dump();
  } catch (const std::exception&) {
    return;  // the message has already been logged
  }
}

}  // namespace trainer::launch
