// SPDX-License-Identifier: Apache-2.0
#include "workflows/experiments/helpers.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <system_error>

#include "trainer/base/io/log.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/launch/place.h"

namespace trainer::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargeFile = 256 << 20;  // bytes

bool has_large_file(const config::DataConfig& data) {
  std::error_code ignored;
  return fs::is_regular_file(data.path, ignored) && fs::file_size(data.path, ignored) > kLargeFile;
}

bool may_use_gpu(const config::Config& config) {
  if (config.device != "auto") return config.device != "cpu";
  std::error_code ignored;
  return fs::exists("/dev/nvidiactl", ignored);
}

constexpr const char* kThreads = "OMP_NUM_THREADS";

// Each process gets its part of the CPUs; without this all would take all of them. Returns whether
// this was not set already.
bool share_cpus(int64_t num_processes) {
  if (std::getenv(kThreads) != nullptr) return false;
  const int64_t threads = std::max<int64_t>(1, usable_cpus() / num_processes);
  return setenv(kThreads, std::to_string(threads).c_str(), /*overwrite=*/1) == 0;
}

[[noreturn]] void work_and_end(const std::function<void(int64_t)>& work, int64_t number) {
  launch::stop_with_launcher();
  log::set_console_level(log::Level::kNone);
  int exit_code = 0;
  try {
    work(number);
  } catch (const std::exception&) {
    exit_code = 1;
  }
  _exit(exit_code);  // what the original process does at its end is not done twice
}

}  // namespace

int64_t count_processes(const config::Config& config) {
#ifdef __linux__
  if (config.processes > 0) return config.processes;
  constexpr int64_t kMost = 16;  // each has LibTorch in memory, some 300 MB
  return may_use_gpu(config) || has_large_file(config.data) ? 1 : std::min(kMost, usable_cpus());
#else
  (void)config;
  return 1;
#endif
}

Helpers::Helpers(int64_t count, const std::function<void(int64_t)>& work) {
  if (count <= 0) return;
  has_set_threads_ = share_cpus(count + 1);
  std::fflush(nullptr);
  for (int64_t number = 1; number <= count; ++number) {
    const pid_t id = fork();
    if (id == 0) work_and_end(work, number);
    if (id > 0) processes_.push_back(id);  // with fewer helpers it only takes longer
  }
}

Helpers::~Helpers() {
  for (const pid_t id : processes_) kill(id, SIGTERM);
  int status = 0;
  for (const pid_t id : processes_) until_done([&] { return waitpid(id, &status, 0); });
  if (has_set_threads_) unsetenv(kThreads);
}

}  // namespace trainer::experiments
