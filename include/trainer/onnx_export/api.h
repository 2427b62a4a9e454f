// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "trainer/apply/export.h"

/// The part of the program that needs the ONNX library. It is a separate library, opened by the one
/// command that writes such files, so that a build without ONNX can lack it, and so that it is
/// never loaded together with LibTorch, which contains a copy of ONNX and Protobuf.
namespace trainer::onnx_export {

/// The table of functions of this library, for a program that opens it at run time.
struct Api {
  const char* version;  // of the library; stays the first member in all versions
  /// Writes `model` as an ONNX file, completely or not at all: it is renamed to `path` once it has
  /// been read back, has passed ONNX's checker and shape inference, and, if ONNX Runtime is
  /// installed, gives the right outputs there. Throws Error(kUsage) for options that do not fit the
  /// model, Error(kRuntime) for a model that is too large for the format or a file that a check
  /// rejects, Error(kFileSystem).
  apply::ExportReport (*write)(const apply::Model& model, const apply::ExportOptions& options,
                               const std::filesystem::path& path);
};

/// The only symbol of the library that is looked up.
inline constexpr const char* kApiSymbol = "trainer_onnx_api";

using ApiFunction = const Api* (*)();

}  // namespace trainer::onnx_export

/// Returns the functions of this library, never null.
extern "C" const trainer::onnx_export::Api* trainer_onnx_api();
