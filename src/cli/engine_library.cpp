// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_library.h"

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "trainer/core/error.h"

#include "cli/open_library.h"

namespace trainer::cli {
namespace {

// GNU OpenMP reads this once, when it is loaded. Its threads wait for each other by spinning; where
// another process wants the CPU, its default of 300,000 turns made a run several times slower, and
// a short spin costs nothing where the machine is quiet.
void limit_spinning() {
  constexpr const char* kTurns = "1000";
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", kTurns, /*overwrite=*/0);
}

const engine::Api* load() {
  limit_spinning();
  const std::filesystem::path library = library_path("trainer_engine");
  std::string reason;
  void* symbol = symbol_in(library, engine::kApiSymbol, Symbols::kGlobal, reason);
  if (symbol == nullptr) {
    throw Error(ErrorKind::kDevice,
                fmt::format("cannot load {}: {}; keep lib/ beside bin/ as it was installed, and "
                            "check that LibTorch is installed",
                            library.filename().string(), reason));
  }
  return reinterpret_cast<engine::ApiFunction>(symbol)();
}

}  // namespace

const engine::Api& engine_library() {
  static const engine::Api* const api = load();
  return *api;
}

}  // namespace trainer::cli
