// SPDX-License-Identifier: Apache-2.0
#include "trainer/core/cpus.h"

#ifdef __linux__
#include <sched.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

#include <asm/hwcap.h>
#endif
#if defined(__aarch64__) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "trainer/core/parse.h"

namespace trainer {
namespace {

int64_t affinity_cpus() {
#ifdef __linux__
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return std::max(1U, std::thread::hardware_concurrency());
}

// The number of CPUs in the cgroup's quota (version 2, then 1), or a large number without a quota.
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

#if defined(__aarch64__) && defined(__APPLE__)
bool has_feature(const char* name) {
  int value = 0;
  std::size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}
#endif

}  // namespace

bool has_bf16() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512bf16") != 0;
#elif defined(__aarch64__) && defined(__linux__)
  return (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
#elif defined(__aarch64__) && defined(__APPLE__)
  return has_feature("hw.optional.arm.FEAT_BF16");
#else
  return false;
#endif
}

bool has_fp16() {
#if defined(__x86_64__)
  // Older compilers do not know this name: CPUID leaf 7, EDX bit 23.
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  const bool has_leaf = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0;
  return has_leaf && ((edx >> 23U) & 1U) != 0 && __builtin_cpu_supports("avx512f") != 0;
#elif defined(__aarch64__) && defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDHP) != 0;
#elif defined(__aarch64__) && defined(__APPLE__)
  return has_feature("hw.optional.arm.FEAT_FP16");
#else
  return false;
#endif
}

std::optional<int64_t> openmp_threads(const char* omp_num_threads) {
  constexpr int64_t kMaxThreads = 1024;  // the limit of the key `threads`
  std::optional<int64_t> first;
  const std::string text = omp_num_threads == nullptr ? "" : omp_num_threads;
  if (text.ends_with(',')) return std::nullopt;
  std::istringstream list(text);
  for (std::string word; std::getline(list, word, ',');) {
    word.erase(0, word.find_first_not_of(" \t"));
    word.erase(word.find_last_not_of(" \t") + 1);
    const std::optional<int64_t> number = parse_int(word);
    if (!number || *number < 1 || *number > kMaxThreads) return std::nullopt;
    if (!first) first = number;
  }
  return first;
}

int64_t usable_cpus() {
  const double quota = std::max(1.0, std::floor(quota_cpus()));
  return std::max<int64_t>(1, std::min(affinity_cpus(), static_cast<int64_t>(quota)));
}

}  // namespace trainer
