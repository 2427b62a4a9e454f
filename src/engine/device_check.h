// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/doctor/facts.h"

namespace trainer::engine {

/// The work behind check_devices() of engine.h.
doctor::EngineFacts run_device_check();

}  // namespace trainer::engine
