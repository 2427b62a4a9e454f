// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trainer/dist/join.h"
#include "trainer/dist/transport.h"

namespace trainer::dist {

/// How the ranks of a machine tell each other where their memory is, before they can share it.
struct Notices {
  int64_t rank = 0;
  std::vector<std::string> hosts;                        // of each rank
  std::function<void(const std::string& mine)> publish;  // once more for each read() of all others
  std::function<std::string(int64_t rank)> read;         // waits for what it has published
};

/// Messages to ranks of the same machine through memory that they share, to others by `network`.
/// Returns `network` itself where that is not possible: all ranks are on different machines, this
/// system has no such memory, or some processes may not see each other's (containers), or do not
/// want that.
std::unique_ptr<Transport> with_shared_memory(std::unique_ptr<Transport> network,
                                              const Notices& notices, const JoinOptions& options);

}  // namespace trainer::dist
