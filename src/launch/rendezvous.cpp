// SPDX-License-Identifier: Apache-2.0
// Before ranks can talk, they must know where rank 0 listens. Torchrun and Kubernetes state it in
// MASTER_ADDR and MASTER_PORT, which are also used if a user sets both under another launcher. The
// other launchers do not state it, but each can pass on a short text of rank 0, which then takes
// any free port: through PMIx, PMI-1, PMI-2, or files in a folder that all ranks see (srun without
// --mpi=pmi2). No other run has a folder of the same name: it contains the job, the step and the
// restart, or whatever else the launcher creates anew. For torchrun it contains the number of
// restarts only if the agent keeps the store, and with it the port, through restarts: otherwise the
// port is new, and agents that joined at different times count differently. Sources:
// torch/distributed/rendezvous.py and .../elastic/agent (torchrun), and the files for each way to
// share.
#include "trainer/launch/rendezvous.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/text/format.h"
#include "trainer/base/text/parse.h"
#include "trainer/launch/addresses.h"

#include "launch/pmi.h"
#include "launch/shared_folder.h"
#include "launch/wait.h"

namespace trainer::launch {
namespace {

constexpr const char* kHost = "MASTER_ADDR";
constexpr const char* kPort = "MASTER_PORT";
constexpr const char* kDescriptor = "PMI_FD";
constexpr const char* kSetAddress =
    "set MASTER_ADDR and MASTER_PORT to an address of rank 0, the same for all ranks";
constexpr size_t kMaxNamePart = 60;  // file names have at most 255 bytes

/// Returns the value of a variable, or an empty text if it is not set.
std::string text_of(const Environment& environment, const char* name) {
  return environment(name).value_or("");
}

int64_t read_port(const Place& place, const Environment& environment) {
  const std::string text = text_of(environment, kPort);
  if (text.empty()) return 0;
  const std::optional<int64_t> port = parse_int(text);
  if (port && *port >= 1 && *port <= 65535) return *port;
  fail(place, fmt::format("got {} as {}, expected a port from 1 to 65535", in_quotes(text), kPort),
       "correct it");
}

bool is_set(const Environment& environment, const char* name) {
  return !text_of(environment, name).empty();
}

/// Returns how ranks meet without MASTER_ADDR and MASTER_PORT: through the launcher if it offers a
/// way, else through files.
Meeting meeting_of(const Place& place, const Environment& environment) {
  if (place.launcher == Launcher::kOpenMpi && has_pmix()) return Meeting::kPmix;
  const bool has_pmi = is_set(environment, kDescriptor);
  if (place.launcher == Launcher::kMpich && has_pmi) return Meeting::kPmi1;
  const bool has_pmi2 = has_pmi && text_of(environment, "SLURM_MPI_TYPE") == "pmi2";
  if (place.launcher == Launcher::kSlurm && has_pmi2) return Meeting::kPmi2;
  return Meeting::kFile;
}

/// Returns the parts of a name that no other run has. A part is empty if the launcher does not
/// state it.
std::vector<std::string> parts_of_name(const Place& place, const Environment& environment,
                                       const Rendezvous& rendezvous) {
  const auto text = [&](const char* name) { return text_of(environment, name); };
  const std::string restarts = std::to_string(place.restarts);
  switch (place.launcher) {
    case Launcher::kTorchrun:
      if (rendezvous.meeting == Meeting::kAddress) {
        return {"torchrun", text("TORCHELASTIC_RUN_ID"), text(kPort)};
      }
      return {"torchrun", text("TORCHELASTIC_RUN_ID"), text(kPort), restarts};
    case Launcher::kSlurm:
      return {"slurm", text("SLURM_JOB_ID"), text("SLURM_STEP_ID"), restarts};
    case Launcher::kOpenMpi:
      return {"mpirun", text("PMIX_NAMESPACE")};
    case Launcher::kMpich:
    case Launcher::kVariables:
    case Launcher::kNone:
      break;
  }
  return {"address", rendezvous.host, text(kPort)};
}

/// Returns a hidden file name in which all characters but letters, digits and - become _.
std::string file_name(const std::vector<std::string>& parts) {
  std::string name = ".rendezvous";
  for (const std::string& part : parts) {
    name += '_';
    for (const char c : part.substr(0, kMaxNamePart)) {
      name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ? c : '_';
    }
  }
  return name;
}

bool has_empty(const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); });
}

std::filesystem::path find_folder(const Place& place, const Environment& environment,
                                  const Rendezvous& rendezvous,
                                  const std::filesystem::path& folder) {
  std::vector<std::string> parts = parts_of_name(place, environment, rendezvous);
  if (has_empty(parts)) parts = {"address", rendezvous.host, text_of(environment, kPort)};
  if (!has_empty(parts)) return folder / file_name(parts);
  // Ranks that meet through PMI or PMIx need no folder.
  if (rendezvous.meeting != Meeting::kFile) return {};
  fail(place, "has no way to find the others, as neither the launcher tells one, nor the variables",
       kSetAddress);
}

int descriptor_of(const Place& place, const Environment& environment) {
  const std::string text = text_of(environment, kDescriptor);
  const std::optional<int64_t> number = parse_int(text);
  if (number && *number >= 0 && *number <= std::numeric_limits<int>::max()) {
    return static_cast<int>(*number);
  }
  fail(place,
       fmt::format("got {} as {}, expected the number of an open file", in_quotes(text),
                   kDescriptor),
       kSetAddress);
}

// If nobody has set the number of ranks on this machine, find_place() only guesses it.
bool knows_local_size(const Place& place, const Environment& environment) {
  return place.launcher != Launcher::kVariables || is_set(environment, "LOCAL_WORLD_SIZE");
}

void check_text(const Place& place, const std::string& text) {
  if (text.size() <= kMaxSharedText && text.find('\n') == std::string::npos) return;
  fail(place,
       fmt::format("cannot tell the others {} of {}, expected one line of at most {} bytes",
                   in_quotes(text), counted(static_cast<int64_t>(text.size()), "byte"),
                   kMaxSharedText),
       "choose a shorter path");
}

}  // namespace

Rendezvous find_rendezvous(const Place& place, const Environment& environment,
                           const std::filesystem::path& folder) {
  Rendezvous rendezvous;
  rendezvous.host = text_of(environment, kHost);
  rendezvous.port = read_port(place, environment);
  const bool needs_address =
      place.launcher == Launcher::kTorchrun || place.launcher == Launcher::kVariables;
  if (!rendezvous.host.empty() && rendezvous.port != 0) {
    rendezvous.meeting = Meeting::kAddress;
  } else if (needs_address) {
    fail(place,
         fmt::format("has no address of rank 0, as {} is not set",
                     rendezvous.host.empty() ? kHost : kPort),
         kSetAddress);
  } else {
    rendezvous.meeting = meeting_of(place, environment);
  }
  if (place.launcher == Launcher::kTorchrun &&
      text_of(environment, "TORCHELASTIC_USE_AGENT_STORE") == "True") {
    rendezvous.meeting = Meeting::kStore;
    rendezvous.key_prefix = fmt::format("attempt_{}/", place.restarts);
  }
  rendezvous.folder = find_folder(place, environment, rendezvous, folder);
  rendezvous.is_local = (place.local_size == place.size && knows_local_size(place, environment)) ||
                        (rendezvous.meeting == Meeting::kAddress && is_loopback(rendezvous.host));
  return rendezvous;
}

std::string share_text(const Rendezvous& rendezvous, const Place& place,
                       const Environment& environment, const std::string& text,
                       std::chrono::milliseconds timeout) {
  if (place.rank == 0) check_text(place, text);
  if (place.size == 1) return text;
  const Wait wait = begin_wait(place, timeout);
  switch (rendezvous.meeting) {
    case Meeting::kPmix:
      return share_by_pmix(wait, text);
    case Meeting::kPmi1:
      return share_by_pmi1(wait, descriptor_of(place, environment), text);
    case Meeting::kPmi2:
      return share_by_pmi2(wait, descriptor_of(place, environment),
                           text_of(environment, "PMI_JOBID"), text);
    case Meeting::kStore:
    case Meeting::kAddress:
    case Meeting::kFile:
      break;
  }
  return share_by_folder(wait, rendezvous.folder, text);
}

}  // namespace trainer::launch
