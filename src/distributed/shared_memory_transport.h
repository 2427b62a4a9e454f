// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trainer/distributed/join.h"
#include "trainer/distributed/transport.h"

namespace trainer::dist {

/// The way in which ranks exchange texts about their memory, before they can share it.
struct Notices {
  int64_t rank = 0;
  std::vector<std::string> hosts;                        // machine of each rank
  std::function<void(const std::string& mine)> publish;  // all ranks publish, then read from all
  std::function<std::string(int64_t rank)> read;         // waits for the newest text of this rank
};

/// Creates a transport that sends messages to ranks of the same machine through shared memory, and
/// to others by `network`. Returns `network` itself if all ranks are on different machines, if the
/// system has no shared memory, if some processes cannot open that of others (containers), or if a
/// rank has it disabled.
std::unique_ptr<Transport> with_shared_memory(std::unique_ptr<Transport> network,
                                              const Notices& notices, const JoinOptions& options);

}  // namespace trainer::dist
