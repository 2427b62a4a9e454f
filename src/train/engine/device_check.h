// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/diagnose/doctor/facts.h"

namespace trainer::engine {

/// Implements check_devices() of engine.h. May throw exceptions of LibTorch.
doctor::EngineFacts run_device_check();

}  // namespace trainer::engine
