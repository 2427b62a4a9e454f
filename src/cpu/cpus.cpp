// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/cpus.h"

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <cmath>
#include <fstream>
#include <thread>

#include "trainer/core/text.h"

namespace trainer::cpu {
namespace {

int64_t affinity_cpus() {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return std::max(1U, std::thread::hardware_concurrency());
}

// CPUs that the cgroup's quota is worth (version 2, then 1), or a large number without one.
double quota_cpus() {
  constexpr double kUnlimited = 1e9;
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period) {
    return quota == "max" ? kUnlimited : parse_double(quota).value_or(kUnlimited) / period;
  }
  double microseconds = 0;
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  const bool limited =
      (quota_file >> microseconds) && (period_file >> period) && microseconds > 0 && period > 0;
  return limited ? microseconds / period : kUnlimited;
}

}  // namespace

int64_t usable_cpus() {
  const double quota = std::max(1.0, std::floor(quota_cpus()));
  return std::max<int64_t>(1, std::min(affinity_cpus(), static_cast<int64_t>(quota)));
}

}  // namespace trainer::cpu
