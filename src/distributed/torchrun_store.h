// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "trainer/launch/place.h"
#include "trainer/launch/rendezvous.h"

namespace trainer::dist {

/// Returns the text of rank 0 on every rank, through the store that the agent of torchrun hosts
/// (Meeting::kStore). Throws Error(kDevice) if the store does not exist or does not answer within
/// `limit`.
std::string share_by_torchrun(const launch::Rendezvous& rendezvous, const launch::Place& place,
                              const std::string& text, std::chrono::milliseconds limit);

}  // namespace trainer::dist
