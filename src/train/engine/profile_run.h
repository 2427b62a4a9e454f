// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/engine/engine.h"

namespace trainer::engine {

/// Implements profile() of engine.h. May throw exceptions of LibTorch.
ProfileReport run_profile(const ProfileRequest& request);

}  // namespace trainer::engine
