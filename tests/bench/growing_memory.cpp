// SPDX-License-Identifier: Apache-2.0
// Loaded into bench_devices before its libraries: whoever asks for the time, as each step does,
// loses 1 MB.
#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

void* volatile lost = nullptr;  // otherwise the compiler leaves out what nobody reads

}  // namespace

extern "C" int clock_gettime(clockid_t clock_id, timespec* tp) {
  using Function = int (*)(clockid_t, timespec*);
  static const auto original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "clock_gettime"));
  constexpr std::size_t kBytes = 1'000'000;
  if (void* memory = std::malloc(kBytes)) {
    std::memset(memory, 1, kBytes);
    lost = memory;
  }
  return original(clock_id, tp);
}
