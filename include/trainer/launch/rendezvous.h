// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "trainer/launch/place.h"

namespace trainer::launch {

/// By what the ranks of a run find each other.
enum class Meeting : uint8_t {
  kAddress,  // rank 0 listens at host and port
  kStore,    // rank 0 tells where it listens by the launcher's store at host and port
  // Rank 0 tells it with share_text:
  kPmix,  // by Open MPI's mpirun
  kPmi1,  // by MPICH's mpiexec
  kPmi2,  // by srun --mpi=pmi2
  kFile,  // by files in a folder
};

/// Where the ranks of a run meet.
struct Rendezvous {
  Meeting meeting = Meeting::kFile;
  std::string host;        // of rank 0: MASTER_ADDR, whatever the meeting; empty: not set
  int64_t port = 0;        // MASTER_PORT, in the same way; 0: not set
  std::string key_prefix;  // kStore: what keys begin with, as an earlier attempt left its own there
  // A hidden name that no other run has. share_text makes this folder for kFile, kStore and
  // kAddress, and removes it.
  std::filesystem::path folder;
  bool is_local = false;  // all ranks are on this machine, as the launcher or the address says

  bool operator==(const Rendezvous&) const = default;
};

/// The most bytes that share_text can share: PMI-1 has lines of 1,024 bytes, and text in hex.
constexpr std::size_t kMaxSharedText = 384;

/// Where the ranks that a launcher started (not kNone) meet: at MASTER_ADDR and MASTER_PORT if both
/// are set, else by the launcher's own way, else in a hidden folder in `folder`. Asks for nothing
/// but variables, and for libpmix under Open MPI. Throws Error(kDevice) if a variable that is
/// needed is not set or MASTER_PORT is no port.
Rendezvous find_rendezvous(const Place& place, const Environment& environment,
                           const std::filesystem::path& folder);

/// The `text` of rank 0, on every rank; the others may pass anything. It has no line break and at
/// most kMaxSharedText bytes. All ranks call it, and once in a process: PMI and PMIx are at their
/// end after it, so keep the result. Throws Error(kDevice) if the text is not like that, the
/// launcher refuses, or after `timeout`, naming who or what did not come; Error(kFileSystem) if
/// the folder cannot be written.
std::string share_text(const Rendezvous& rendezvous, const Place& place,
                       const Environment& environment, const std::string& text,
                       std::chrono::milliseconds timeout);

}  // namespace trainer::launch
