// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "trainer/launch/place.h"
#include "trainer/launch/rendezvous.h"

namespace trainer::dist {

/// The text of rank 0, on every rank, by the store that torchrun's agent hosts (Meeting::kStore).
/// Throws Error(kDevice) if it is not there or does not answer within the time.
std::string share_by_torchrun(const launch::Rendezvous& rendezvous, const launch::Place& place,
                              const std::string& text, std::chrono::milliseconds limit);

}  // namespace trainer::dist
