// SPDX-License-Identifier: Apache-2.0
#include "cli/onnx_library.h"

#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "trainer/core/error.h"

#include "cli/open_library.h"

namespace trainer::cli {
namespace {

const onnx_export::Api* load_onnx() {
  const std::filesystem::path library = library_path("trainer_onnx");
  if (!std::filesystem::exists(library)) {
    throw Error(ErrorKind::kUsage,
                "--format onnx: this build has no ONNX support; install ONNX (Debian, Ubuntu: "
                "apt-get install libonnx-dev; macOS: brew install onnx) and build again, or export "
                "to .safetensors or .pt");
  }
  std::string reason;
  // Symbols stay local: LibTorch, if it is loaded later, has its own ONNX.
  void* symbol = symbol_in(library, onnx_export::kApiSymbol, Symbols::kLocal, reason);
  if (symbol == nullptr) {
    throw Error(ErrorKind::kUsage,
                fmt::format("--format onnx: cannot load {}: {}; install ONNX (Debian, Ubuntu: "
                            "apt-get install libonnx1; macOS: brew install onnx), or export to "
                            ".safetensors or .pt",
                            library.filename().string(), reason));
  }
  return reinterpret_cast<onnx_export::ApiFunction>(symbol)();
}

}  // namespace

const onnx_export::Api& onnx_library() {
  static const onnx_export::Api* const api = load_onnx();
  return *api;
}

}  // namespace trainer::cli
