// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <thread>

#ifdef __APPLE__
#include <pthread.h>

#include <mach/mach.h>

#include "support/process.h"
#else
#include <sys/syscall.h>

#include "support/files.h"
#endif

namespace trainer::test {

/// A thread of this process, as the system knows it.
#ifdef __APPLE__
using ThreadId = mach_port_t;
inline ThreadId this_thread() { return pthread_mach_thread_np(pthread_self()); }
inline bool is_thread_asleep(ThreadId thread) {
  thread_basic_info_data_t info{};
  mach_msg_type_number_t size = THREAD_BASIC_INFO_COUNT;
  const auto status =
      thread_info(thread, THREAD_BASIC_INFO, reinterpret_cast<thread_info_t>(&info), &size);
  return status == KERN_SUCCESS && info.run_state == TH_STATE_WAITING;
}
inline char process_state(pid_t process) {
  const std::string state = run_process("ps -o state= -p " + std::to_string(process)).out;
  return state.empty() ? 'Z' : state.front();
}
#else
using ThreadId = pid_t;
inline ThreadId this_thread() { return static_cast<ThreadId>(syscall(SYS_gettid)); }
inline char process_state(pid_t process) {
  // "4711 (name) S ...": proc(5)
  const std::string stat = read_file("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  return name_end == std::string::npos ? 'Z' : stat.at(name_end + 2);
}
inline bool is_thread_asleep(ThreadId thread) { return process_state(thread) == 'S'; }
#endif

/// Nobody is told when a thread falls asleep: this is the only place where a test has to look again
/// and again.
template <class Condition>
void look_until(const Condition& is_so) {
  while (!is_so()) std::this_thread::yield();
}

inline void wait_until_thread_sleeps(ThreadId thread) {
  look_until([&] { return is_thread_asleep(thread); });
}

/// Waits until the only thread of a child sleeps, in a read for example, or the child has ended.
inline void wait_until_child_sleeps(pid_t child) {
  constexpr std::string_view kAsleepOrEnded = "SIZ";  // I: for more than 20 seconds, on macOS
  look_until([&] { return kAsleepOrEnded.find(process_state(child)) != std::string_view::npos; });
}

}  // namespace trainer::test
