// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/onnx_export/api.h"

namespace trainer::cli {

/// The library that writes ONNX files, loaded at the first call. Throws Error(kUsage) with what to
/// install if it is not part of the build or cannot be loaded.
const onnx_export::Api& onnx_library();

}  // namespace trainer::cli
