// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "trainer/nn/spec/spec.h"
#include "trainer/run/checkpoint/checkpoint.h"

namespace trainer::config {
struct Config;
}

namespace trainer::checkpoint {

/// A checkpoint that has passed all checks of verify().
struct VerifiedCheckpoint {
  Checkpoint checkpoint;
  std::shared_ptr<const config::Config> config;  // parsed from the text in the checkpoint
  network::NetworkSpec network;                  // network of that configuration and schema
  uint64_t num_bytes = 0;
  double time_seconds = 0;  // seconds for reading and checking
};

/// Reads a checkpoint with all checks of read(), and then checks that a run can continue from it:
/// all weights and moments are finite, the configuration can be loaded, and weights and moments
/// have the names and shapes of its network. Throws Error(kCheckpoint) with all problems, one per
/// line: `file: entry: problem`.
VerifiedCheckpoint verify(const std::filesystem::path& path);

/// Compares a data file with its fingerprint. Returns "unchanged", "missing", "changed: ... before,
/// ... now", why the file cannot be read, or, for the rows of a query, that it was not checked.
std::string data_file_state(const data::Fingerprint& saved);

}  // namespace trainer::checkpoint
