// SPDX-License-Identifier: Apache-2.0
#include "trainer/base/parallel/cpus.h"

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
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
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string>
#include <thread>

#include "trainer/base/text/parse.h"

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

// The number of CPUs in the cgroup's quota (version 2, then 1), or 0 without a quota.
double quota_cpus() {
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period) {
    return quota == "max" ? 0 : parse_double(quota).value_or(0) / period;
  }
  double microseconds = 0;
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  const bool limited =
      (quota_file >> microseconds) && (period_file >> period) && microseconds > 0 && period > 0;
  return limited ? microseconds / period : 0;
}

#if defined(__aarch64__) && defined(__APPLE__)
bool has_feature(const char* name) {
  int value = 0;
  std::size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}
#endif

#if defined(__x86_64__)
// __builtin_cpu_supports() says no to everything with the runtime library of Zig, whose data of the
// CPU are empty.
struct Leaf {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
};

Leaf cpuid(unsigned leaf, unsigned subleaf) {
  Leaf result;
  __get_cpuid_count(leaf, subleaf, &result.eax, &result.ebx, &result.ecx, &result.edx);
  return result;
}

constexpr unsigned bits(std::initializer_list<unsigned> numbers) {
  unsigned result = 0;
  for (const unsigned number : numbers) result |= 1U << number;
  return result;
}

bool has_all(unsigned word, unsigned wanted) { return (word & wanted) == wanted; }

// Whether the system saves these registers when it switches threads, by their bits in XCR0.
bool system_saves(unsigned registers) {
  constexpr unsigned kXgetbv = bits({27});
  if (!has_all(cpuid(1, 0).ecx, kXgetbv)) return false;
  uint32_t low = 0;
  uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return has_all(low, registers);
}

constexpr unsigned kYmm = bits({1, 2});
constexpr unsigned kZmm = kYmm | bits({5, 6, 7});
constexpr unsigned kTiles = bits({17, 18});

// Linux requires a process to request permission for tiles, as their data is large. Returns whether
// it was granted.
bool system_permits_tiles() {
#ifdef __linux__
  constexpr int64_t kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int64_t kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}
#endif

}  // namespace

bool has_avx2() {
#if defined(__x86_64__)
  constexpr unsigned kFma = bits({12});  // leaf 1, ECX
  constexpr unsigned kAvx2 = bits({5});  // leaf 7, EBX
  static const bool has =
      system_saves(kYmm) && has_all(cpuid(1, 0).ecx, kFma) && has_all(cpuid(7, 0).ebx, kAvx2);
  return has;
#else
  return false;
#endif
}

bool has_avx512() {
#if defined(__x86_64__)
  constexpr unsigned kFDqBwVl = bits({16, 17, 30, 31});  // leaf 7, EBX
  static const bool has = system_saves(kZmm) && has_all(cpuid(7, 0).ebx, kFDqBwVl);
  return has;
#else
  return false;
#endif
}

std::vector<std::string> vector_instructions() {
  std::vector<std::string> names;
#if defined(__x86_64__)
  if (has_avx2()) names.emplace_back("AVX2");
  if (has_avx512()) names.emplace_back("AVX-512");
  if (has_bf16()) names.emplace_back("AVX512-BF16");
  if (has_fp16()) names.emplace_back("AVX512-FP16");
  if (has_amx_bf16()) names.emplace_back("AMX");
#elif defined(__aarch64__)
  names.emplace_back("NEON");
  if (has_bf16()) names.emplace_back("BF16");
  if (has_fp16()) names.emplace_back("FP16");
#endif
  return names;
}

bool has_bf16() {
#if defined(__x86_64__)
  constexpr unsigned kBf16 = bits({5});  // leaf 7.1, EAX
  return has_avx512() && has_all(cpuid(7, 1).eax, kBf16);
#elif defined(__aarch64__) && defined(__linux__)
  return (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0;
#elif defined(__aarch64__) && defined(__APPLE__)
  return has_feature("hw.optional.arm.FEAT_BF16");
#else
  return false;
#endif
}

bool has_fast_bf16() {
#if defined(__x86_64__)
  constexpr unsigned kGenu = 0x756e6547;  // of "GenuineIntel"
  // The product of pairs takes four times as long as a multiply-add in fp32 on these
  // (docs/performance.md). AVX512-FP16 tells them from Cooper Lake, which has AVX512-BF16 as well.
  const bool has_slow_pairs = cpuid(0, 0).ebx == kGenu && has_fp16();
  return has_amx_bf16() || (has_bf16() && !has_slow_pairs);
#else
  return has_bf16();
#endif
}

bool has_amx_bf16() {
#if defined(__x86_64__)
  constexpr unsigned kBf16AndTiles = bits({22, 24});  // leaf 7, EDX
  static const bool has = has_bf16() && has_all(cpuid(7, 0).edx, kBf16AndTiles) &&
                          system_saves(kTiles) && system_permits_tiles();
  return has;
#else
  return false;
#endif
}

template <>
std::span<const std::string> enum_names<Bf16Products>() {
  static const std::string kNames[] = {"pairs", "amx", "arm"};
  return kNames;
}

bool has_fp16() {
#if defined(__x86_64__)
  constexpr unsigned kFp16 = bits({23});  // leaf 7, EDX
  return has_avx512() && has_all(cpuid(7, 0).edx, kFp16);
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

CpuLimits cpu_limits() { return {.affinity = affinity_cpus(), .quota = quota_cpus()}; }

int64_t usable_cpus() {
  const CpuLimits limits = cpu_limits();
  if (limits.quota == 0) return std::max<int64_t>(1, limits.affinity);
  const auto quota = static_cast<int64_t>(std::clamp(std::floor(limits.quota), 1.0, 1e9));
  return std::max<int64_t>(1, std::min(limits.affinity, quota));
}

}  // namespace trainer
