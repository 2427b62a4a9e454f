// SPDX-License-Identifier: Apache-2.0
#include "distributed/process_settings.h"

#include <sched.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ios>
#include <iostream>

#include <c10/util/Logging.h>

namespace trainer::dist {

// The thread of Gloo tries to lock a connection again and again while another thread sends. If both
// run on the same CPU, as when mpirun binds a process to one CPU, that wastes a time slice of
// milliseconds.
void give_way() {
#ifdef __linux__
  constexpr int kNice = 10;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (int i = 0; i < CPU_SETSIZE; ++i) CPU_SET(i, &all);
  sched_setaffinity(0, sizeof all, &all);
  setpriority(PRIO_PROCESS, 0, kNice);
#endif
}

// c10d of LibTorch 2 prints errors with the addresses of functions before it throws the same
// errors, which the trainer reports to users. Newer Gloo prints the number of connected peers to
// std::cerr, which the trainer itself does not use.
void keep_quiet() {
  constexpr int kFatalOnly = 3;
  if (std::getenv("TORCH_CPP_LOG_LEVEL") != nullptr) return;
  FLAGS_caffe2_log_level = kFatalOnly;
  std::cerr.setstate(std::ios_base::failbit);
}

}  // namespace trainer::dist
