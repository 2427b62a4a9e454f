// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "trainer/core/error.h"
#include "trainer/core/library_folder.h"

namespace trainer::cli {
namespace {

#ifdef __APPLE__
constexpr const char* kLibrary = "libtrainer_engine.dylib";
#else
constexpr const char* kLibrary = "libtrainer_engine.so";
#endif

[[noreturn]] void refuse() {
  const char* reason = dlerror();
  throw Error(ErrorKind::kDevice,
              fmt::format("cannot load {}: {}; keep lib/ beside bin/ as it was installed, and "
                          "check that LibTorch is installed",
                          kLibrary, reason == nullptr ? "unknown reason" : reason));
}

// GNU OpenMP reads this once, when it is loaded. Its threads wait for each other by spinning; where
// another process wants the CPU, its default of 300,000 turns made a run several times slower, and
// a short spin costs nothing where the machine is quiet.
void limit_spinning() {
  constexpr const char* kTurns = "1000";
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", kTurns, /*overwrite=*/0);
}

const engine::Api* load() {
  limit_spinning();
  // By its path: a search would go by the RUNPATH of whoever calls dlopen, under AddressSanitizer
  // the sanitizer's own.
  const std::string path = (library_folder() / kLibrary).string();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
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
