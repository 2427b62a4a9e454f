// SPDX-License-Identifier: Apache-2.0
#include "devices/cpu_watch.h"

#include <algorithm>

#ifdef __APPLE__
#include <sys/resource.h>
#include <unistd.h>

#include <mach/mach.h>
#else
#include <filesystem>
#include <fstream>
#include <system_error>

#include "trainer/base/text/parse.h"
#endif

namespace trainer::bench {
namespace {

#ifdef __APPLE__

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The CPU time of other programs so far, divided by the number of CPUs.
std::map<int64_t, double> waiting_seconds() {
  host_cpu_load_info_data_t load{};
  mach_msg_type_number_t count = HOST_CPU_LOAD_INFO_COUNT;
  rusage own{};
  if (host_statistics(mach_host_self(), HOST_CPU_LOAD_INFO, reinterpret_cast<host_info_t>(&load),
                      &count) != KERN_SUCCESS ||
      getrusage(RUSAGE_SELF, &own) != 0) {
    return {};
  }
  const double ticks = static_cast<double>(load.cpu_ticks[CPU_STATE_USER]) +
                       static_cast<double>(load.cpu_ticks[CPU_STATE_SYSTEM]) +
                       static_cast<double>(load.cpu_ticks[CPU_STATE_NICE]);
  const double all = ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  const double others = all - seconds_of(own.ru_utime) - seconds_of(own.ru_stime);
  return {{0, others / static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN))}};
}

#else

// How long each thread has been ready to run without a CPU: the second number of schedstat.
std::map<int64_t, double> waiting_seconds() {
  std::map<int64_t, double> seconds;
  std::error_code error;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::ifstream file(thread.path() / "schedstat");
    double running = 0;
    double waiting = 0;
    if (!(file >> running >> waiting)) continue;  // it has ended, or the system does not count
    seconds[parse_int(thread.path().filename().string()).value_or(0)] = 1e-9 * waiting;
  }
  return seconds;
}

#endif

}  // namespace

void CpuWatch::start() { before_ = waiting_seconds(); }

std::optional<double> CpuWatch::lost_seconds() const {
  if (before_.empty()) return std::nullopt;
  double most = 0;
  for (const auto& [thread, seconds] : waiting_seconds()) {
    const auto before = before_.find(thread);
    if (before != before_.end()) most = std::max(most, seconds - before->second);
  }
  return most;
}

}  // namespace trainer::bench
