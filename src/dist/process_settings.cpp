// SPDX-License-Identifier: Apache-2.0
#include "dist/process_settings.h"

#include <sched.h>
#include <sys/resource.h>

#include <cstdlib>
#include <ios>
#include <iostream>

#include <c10/util/Logging.h>

namespace trainer::dist {

// Gloo's thread tries for the lock of a connection again and again while another thread sends: on
// the same CPU, where mpirun binds a process to one, that takes a time slice of milliseconds.
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

// c10d of LibTorch 2 writes what goes wrong, with the addresses of functions, before it throws the
// same, which is what users are told. Newer Gloo writes to std::cerr, which nothing of ours uses,
// how many peers it has connected.
void keep_quiet() {
  constexpr int kFatalOnly = 3;
  if (std::getenv("TORCH_CPP_LOG_LEVEL") != nullptr) return;
  FLAGS_caffe2_log_level = kFatalOnly;
  std::cerr.setstate(std::ios_base::failbit);
}

}  // namespace trainer::dist
