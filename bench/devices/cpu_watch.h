// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace trainer::bench {

/// Finds out how much time other programs take from this one by using the CPU.
class CpuWatch {
 public:
  /// Starts anew.
  void start();

  /// The seconds since start() that the program has lost: on Linux, those that one of its threads,
  /// the one that waited longest, was ready to run and had no CPU; on macOS, the CPU time of other
  /// programs, divided by the number of CPUs. Nothing if the system does not tell.
  std::optional<double> lost_seconds() const;

 private:
  std::map<int64_t, double> before_;  // seconds by thread; macOS: by 0, of all programs
};

}  // namespace trainer::bench
