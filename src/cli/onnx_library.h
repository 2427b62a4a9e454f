// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/onnx_export/api.h"

namespace trainer::cli {

/// The part that writes ONNX files, loaded at the first call. Throws Error(kUsage) with what to
/// install when it was left out of the build or its library cannot be loaded.
const onnx_export::Api& onnx_library();

}  // namespace trainer::cli
