// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include <c10/core/Device.h>

#include "trainer/distributed/world.h"

namespace c10d {
class Store;
}

namespace trainer::dist {

/// Connects the CUDA devices of all ranks, one per rank, by NCCL. Throws Error(kDevice) if that
/// fails, or if this build has no NCCL.
AllToAll connect_nccl(const std::shared_ptr<c10d::Store>& store, int64_t rank, int64_t size,
                      std::chrono::milliseconds timeout, c10::Device device);

}  // namespace trainer::dist
