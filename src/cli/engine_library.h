// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/engine/api.h"

namespace trainer::cli {

/// The engine library, loaded at the first call. Throws Error(kDevice) if it or LibTorch cannot be
/// loaded.
const engine::Api& engine_library();

/// Starts to load it in another thread, so that the caller can do something else meanwhile.
void start_loading_engine();

/// Whether that thread is still at work: until then, only std::_Exit() ends the process without
/// waiting for it.
bool is_loading_engine();

}  // namespace trainer::cli
