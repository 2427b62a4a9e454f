// SPDX-License-Identifier: Apache-2.0
// What libFuzzer asks for: TRAINER_FUZZ_TARGET=csv build/fuzz/bin/fuzz [FOLDER...|FILE...]
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "trainer/base/io/log.h"

#include "fuzz/targets.h"

namespace {

const trainer::fuzz::Target* chosen = nullptr;

// libFuzzer writes what it finds to the first folder that it is given.
void write_seed(std::span<char*> arguments) {
  for (const std::filesystem::path folder : arguments) {
    if (!std::filesystem::is_directory(folder)) continue;
    const std::string seed = chosen->make_seed();
    std::ofstream(folder / "seed", std::ios::binary) << seed;
    return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const char* name = std::getenv("TRAINER_FUZZ_TARGET");
  for (const trainer::fuzz::Target& target : trainer::fuzz::targets()) {
    if (name != nullptr && std::string_view(name) == target.name) chosen = &target;
  }
  if (chosen == nullptr) {
    std::fputs("TRAINER_FUZZ_TARGET names none of tests/fuzz/targets.cpp\n", stderr);
    std::exit(2);
  }
  if (chosen->make_seed != nullptr) write_seed({*argv + 1, *argv + *argc});
  trainer::log::set_console_level(trainer::log::Level::kNone);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  chosen->run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
