// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/engine/api.h"

namespace trainer::cli {

/// The engine library, loaded at the first call. Throws Error(kDevice) if it or LibTorch cannot be
/// loaded.
const engine::Api& engine_library();

}  // namespace trainer::cli
