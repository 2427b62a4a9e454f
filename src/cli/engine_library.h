// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/engine/api.h"

namespace trainer::cli {

/// Returns the engine library, which the first call loads. Throws Error(kDevice) if it or LibTorch
/// cannot be loaded, Error(kOutOfMemory) if the limit of the address space is too small.
const engine::Api& engine_library();

/// Starts to load the engine library in another thread, so that the caller can work meanwhile.
void start_loading_engine();

/// Returns whether that thread is still loading. Until it has finished, only std::_Exit() ends the
/// process without waiting for it.
bool is_loading_engine();

}  // namespace trainer::cli
