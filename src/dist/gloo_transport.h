// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "trainer/dist/transport.h"

#include "dist/rank_store.h"

namespace c10d {
class ProcessGroupGloo;
}  // namespace c10d

namespace trainer::dist {

/// What the ranks of a run have joined.
struct GlooGroup {
  RankStore store;
  std::shared_ptr<c10d::ProcessGroupGloo> group;
  int64_t rank = 0;
  std::vector<std::string> hosts;  // of each rank
  std::chrono::milliseconds timeout{};
  std::chrono::milliseconds start_timeout{};
};

/// Messages between pairs of ranks by Gloo, from the thread that calls exchange().
std::unique_ptr<Transport> make_gloo_transport(GlooGroup group);

/// What LibTorch or Gloo says of an error, in one line and without the backtrace.
std::string reason_of(const std::exception& error);

}  // namespace trainer::dist
