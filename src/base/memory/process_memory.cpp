// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/memory/process_memory.h"

#ifdef __linux__
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#ifdef __APPLE__
#include <mach/mach.h>
#endif

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/text/format.h"

namespace trainer {
namespace {

/// The current values; `peak` stays 0.
ProcessMemory memory_now() {
  ProcessMemory memory;
#ifdef __APPLE__
  task_vm_info_data_t info{};
  mach_msg_type_number_t count = TASK_VM_INFO_COUNT;
  const kern_return_t result =
      task_info(mach_task_self(), TASK_VM_INFO, reinterpret_cast<task_info_t>(&info), &count);
  if (result == KERN_SUCCESS) {
    memory.current = static_cast<int64_t>(info.resident_size);
    memory.anonymous = static_cast<int64_t>(info.internal);
  }
#else
  int64_t all = 0;
  int64_t resident = 0;  // pages
  int64_t of_files = 0;
  std::ifstream file("/proc/self/statm");
  if (file >> all >> resident >> of_files) {
    memory.current = resident * sysconf(_SC_PAGESIZE);
    memory.anonymous = (resident - of_files) * sysconf(_SC_PAGESIZE);
  }
#endif
  return memory;
}

/// A number from a memory file of the cgroup of this process, whose name differs between versions 2
/// and 1 (older systems); nothing outside of containers, or where there is no limit.
std::optional<int64_t> cgroup_number(const char* name, const char* old_name) {
  const std::string folder = "/sys/fs/cgroup/";
  for (const std::string& path : {folder + name, folder + "memory/" + old_name}) {
    std::ifstream file(path);
    int64_t number = 0;
    if (file >> number) return number;  // "max" is no number
  }
  return std::nullopt;
}

/// Bytes of inactive file cache, which count as used by the cgroup but can be dropped.
int64_t cgroup_cache() {
  for (const char* path : {"/sys/fs/cgroup/memory.stat", "/sys/fs/cgroup/memory/memory.stat"}) {
    std::ifstream file(path);
    int64_t number = 0;
    for (std::string name; file >> name >> number;) {
      if (name == "inactive_file" || name == "total_inactive_file") return number;
    }
  }
  return 0;
}

std::optional<int64_t> cgroup_limit() {
  return cgroup_number("memory.max", "memory.limit_in_bytes");
}

int64_t peak_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
  return usage.ru_maxrss;
#else
  return usage.ru_maxrss * int64_t{1024};
#endif
}

}  // namespace

std::optional<int64_t> available_memory() {
  std::optional<int64_t> available;
  std::ifstream memory("/proc/meminfo");
  for (std::string name, unit; memory >> name;) {
    int64_t kibibytes = 0;
    if (name == "MemAvailable:" && memory >> kibibytes) available = kibibytes * 1024;
    std::getline(memory, unit);
  }
  const std::optional<int64_t> limit = cgroup_limit();
  const std::optional<int64_t> used = cgroup_number("memory.current", "memory.usage_in_bytes");
  if (available && limit && used) {
    const int64_t rest = *limit - std::max<int64_t>(0, *used - cgroup_cache());
    available = std::clamp<int64_t>(rest, 0, *available);
  }
  return available;
}

std::optional<int64_t> total_memory() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::nullopt;
  const int64_t all = pages * page_bytes;
  return std::min(cgroup_limit().value_or(all), all);
}

void return_freed_blocks() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void require_memory(int64_t num_bytes, const std::string& what, const std::string& fix) {
  const std::optional<int64_t> total = total_memory();
  if (!total || num_bytes / 2 <= *total) return;
  throw Error(ErrorKind::kOutOfMemory,
              fmt::format("{} needs {}, but this machine has {} of memory; {}", what,
                          human_bytes(static_cast<uint64_t>(num_bytes)),
                          human_bytes(static_cast<uint64_t>(*total)), fix));
}

ProcessMemory process_memory() {
  // The system updates its peak only from time to time, so the current value may be larger.
  ProcessMemory memory = memory_now();
  memory.peak = std::max(memory.current, peak_bytes());
  return memory;
}

}  // namespace trainer
