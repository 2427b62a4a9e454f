// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/diagnose/doctor/facts.h"
#include "trainer/onnx_export/api.h"
#include "trainer/train/engine/api.h"

/// Loading of this program's libraries when a command first needs them.

namespace trainer::cli {

/// Returns the engine library, which the first call loads. Throws Error(kDevice) if it or LibTorch
/// cannot be loaded, Error(kOutOfMemory) if the limit of the address space is too small.
const engine::Api& engine_library();

/// Starts to load the engine library in another thread, so that the caller can work meanwhile.
/// Throws Error(kDevice) if there is none.
void start_loading_engine();

/// Returns whether that thread is still loading. Until it has finished, only std::_Exit() ends the
/// process without waiting for it.
bool is_loading_engine();

/// Returns the library that writes ONNX files, which the first call loads. Throws Error(kUsage)
/// with what to install if it is not part of the build or cannot be loaded.
const onnx_export::Api& onnx_library();

/// Returns whether onnx_library() would succeed. A child process tries it, because LibTorch and
/// ONNX cannot be in one process; call it before other threads start.
doctor::LibraryFacts onnx_facts();

}  // namespace trainer::cli
