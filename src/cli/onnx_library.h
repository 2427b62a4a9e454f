// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/diagnose/doctor/facts.h"
#include "trainer/onnx_export/api.h"

namespace trainer::cli {

/// Returns the library that writes ONNX files, which the first call loads. Throws Error(kUsage)
/// with what to install if it is not part of the build or cannot be loaded.
const onnx_export::Api& onnx_library();

/// Returns whether onnx_library() would succeed. A child process tries it, because LibTorch and
/// ONNX cannot be in one process; call it before other threads start.
doctor::LibraryFacts onnx_facts();

}  // namespace trainer::cli
