// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/doctor/facts.h"
#include "trainer/onnx_export/api.h"

namespace trainer::cli {

/// The library that writes ONNX files, loaded at the first call. Throws Error(kUsage) with what to
/// install if it is not part of the build or cannot be loaded.
const onnx_export::Api& onnx_library();

/// Whether onnx_library() would return. A child process tries it, because LibTorch and ONNX cannot
/// be in one process; so it must be called before other threads run.
doctor::LibraryFacts onnx_facts();

}  // namespace trainer::cli
