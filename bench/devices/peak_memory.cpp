// SPDX-License-Identifier: Apache-2.0
#include "devices/peak_memory.h"

#ifdef __APPLE__
#include <sys/resource.h>
#else
#include <malloc.h>

#include <fstream>
#include <limits>
#include <string>
#endif

namespace trainer::bench {

#ifdef __APPLE__

bool restart_peak_memory() { return false; }

uint64_t peak_memory_bytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<uint64_t>(usage.ru_maxrss) : 0;
}

#else

bool restart_peak_memory() {
#ifdef __GLIBC__
  malloc_trim(0);  // returns memory that the previous row has freed
#endif
  std::ofstream file("/proc/self/clear_refs");
  file << "5";  // proc(5): resets VmHWM
  return static_cast<bool>(file.flush());
}

uint64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key;) {
    uint64_t kib = 0;
    if (key == "VmHWM:" && status >> kib) return kib * 1024;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

#endif

}  // namespace trainer::bench
