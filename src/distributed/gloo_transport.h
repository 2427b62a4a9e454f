// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/distributed/transport.h"

#include "distributed/rank_store.h"

namespace c10d {
class ProcessGroupGloo;
}  // namespace c10d

namespace trainer::dist {

/// The connections of a rank to all others, and what is known about them.
struct GlooGroup {
  RankStore store;
  std::shared_ptr<c10d::ProcessGroupGloo> group;
  int64_t rank = 0;
  std::vector<std::string> hosts;  // machine of each rank
  std::chrono::milliseconds timeout{};
  std::chrono::milliseconds start_timeout{};
};

/// Creates a transport that sends messages between pairs of ranks by Gloo, from the thread that
/// calls its functions.
std::unique_ptr<Transport> make_gloo_transport(GlooGroup group);

/// Returns the message of an error of LibTorch or Gloo in one line, without the backtrace.
std::string reason_of(const std::exception& error);

}  // namespace trainer::dist
