// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trainer/apply/export.h"

/// The part of the program that needs the ONNX library: a library of its own, which is opened by
/// the one command that writes such files. A build without ONNX lacks it, and it never meets
/// LibTorch, which has a copy of ONNX and Protobuf inside.
namespace trainer::onnx_export {

/// What the ONNX library offers to a program that opens it at run time.
struct Api {
  /// Writes `model` as an ONNX file, complete or not at all: it gets its name when it has been read
  /// again, ONNX's checker has accepted it and shape inference has found the outputs that it
  /// promises. Throws Error(kUsage) for what the options cannot have of this model,
  /// Error(kRuntime) for a model that is too large for the format, Error(kFileSystem).
  apply::ExportReport (*write)(const apply::Model& model, const apply::ExportOptions& options,
                               const std::filesystem::path& path);
};

/// The name of the only symbol that is looked up.
inline constexpr const char* kApiSymbol = "trainer_onnx_api";

using ApiFunction = const Api* (*)();

}  // namespace trainer::onnx_export

/// The functions of this library; never nullptr.
extern "C" const trainer::onnx_export::Api* trainer_onnx_api();
