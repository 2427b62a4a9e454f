// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

#include "trainer/core/error.h"

namespace trainer::cli {
namespace {

#ifdef __APPLE__
constexpr const char* kLibrary = "@rpath/libtrainer_engine.dylib";
#else
constexpr const char* kLibrary = "libtrainer_engine.so";  // found through this program's RUNPATH
#endif

[[noreturn]] void refuse() {
  const char* reason = dlerror();
  throw Error(ErrorKind::kDevice,
              fmt::format("cannot load {}: {}; keep lib/ beside bin/ as it was installed, and "
                          "check that LibTorch is installed",
                          kLibrary, reason == nullptr ? "unknown reason" : reason));
}

const engine::Api* load() {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) refuse();
  void* symbol = dlsym(library, engine::kApiSymbol);
  if (symbol == nullptr) refuse();
  return reinterpret_cast<engine::ApiFunction>(symbol)();
}

}  // namespace

const engine::Api& engine_library() {
  static const engine::Api* const api = load();
  return *api;
}

}  // namespace trainer::cli
