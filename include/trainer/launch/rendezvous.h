// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "trainer/launch/place.h"

namespace trainer::launch {

/// How the ranks of a run find each other.
enum class Meeting : uint8_t {
  kAddress,  // rank 0 listens at host and port
  kStore,    // rank 0 writes its address to the launcher's store at host and port
  // In the other cases rank 0 tells its address with share_text():
  kPmix,  // through Open MPI's mpirun
  kPmi1,  // through MPICH's mpiexec
  kPmi2,  // through srun --mpi=pmi2
  kFile,  // through files in a folder
};

/// Where and how the ranks of a run meet.
struct Rendezvous {
  Meeting meeting = Meeting::kFile;
  std::string host;        // MASTER_ADDR, whatever the meeting; empty: not set
  int64_t port = 0;        // MASTER_PORT, whatever the meeting; 0: not set
  std::string key_prefix;  // kStore: the beginning of all keys, different for each attempt
  // A hidden folder with a name that no other run has. share_text() creates it for kFile, kStore
  // and kAddress, and removes it afterwards.
  std::filesystem::path folder;
  bool is_local = false;  // all ranks are on this machine, as the launcher or the address says

  bool operator==(const Rendezvous&) const = default;
};

/// The largest number of bytes that share_text() can share: lines of PMI-1 have 1,024 bytes, and
/// the text in them is hexadecimal.
constexpr std::size_t kMaxSharedText = 384;

/// Returns where the ranks that a launcher (not kNone) started meet: at MASTER_ADDR and MASTER_PORT
/// if both are set, else through the launcher, else in a hidden folder within `folder`. Only reads
/// variables, and looks for libpmix under Open MPI. Throws Error(kDevice) if a variable that is
/// needed is not set or MASTER_PORT is not a port.
Rendezvous find_rendezvous(const Place& place, const Environment& environment,
                           const std::filesystem::path& folder);

/// Returns the `text` of rank 0 on every rank; what the other ranks pass is ignored. It must have
/// no line break and at most kMaxSharedText bytes. All ranks must call this, and only once in a
/// process, because PMI and PMIx cannot be used after it. Throws Error(kDevice) if the text is
/// invalid, if the launcher refuses, or after `timeout`, naming the ranks or answers that are
/// missing; Error(kFileSystem) if the folder cannot be written.
std::string share_text(const Rendezvous& rendezvous, const Place& place,
                       const Environment& environment, const std::string& text,
                       std::chrono::milliseconds timeout);

}  // namespace trainer::launch
