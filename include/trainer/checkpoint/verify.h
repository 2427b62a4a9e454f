// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/network/spec.h"

namespace trainer::config {
struct Config;
}

namespace trainer::checkpoint {

/// A checkpoint that passed every check.
struct VerifiedCheckpoint {
  Checkpoint checkpoint;
  std::shared_ptr<const config::Config> config;  // what its text says
  network::NetworkSpec network;  // of that configuration and the checkpoint's schema
  uint64_t num_bytes = 0;
  double time_seconds = 0;  // of reading and checking
};

/// Reads a checkpoint with every check of read(), and then looks whether a run could go on from it:
/// all weights and moments are finite, the configuration loads, the weights have the names and
/// shapes of its network, and each moment those of the parameters. Throws Error(kCheckpoint) with
/// every problem, a line each: `file: entry: problem`.
VerifiedCheckpoint verify(const std::filesystem::path& path);

/// "unchanged", "missing", "changed: ... before, ... now", or why the file cannot be read.
std::string data_file_state(const data::Fingerprint& saved);

}  // namespace trainer::checkpoint
