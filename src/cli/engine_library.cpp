// SPDX-License-Identifier: Apache-2.0
#include "cli/engine_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/io/until_done.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/time/time_scopes.h"
#include "trainer/base/time/timeline.h"
#include "trainer/run/folder/blas.h"

#include "cli/open_library.h"

namespace trainer::cli {
namespace {

// GNU OpenMP reads this variable once, when it is loaded. Its threads spin while they wait. If
// another process needs the CPU, the default of 300,000 iterations made a run several times slower;
// a short spin costs nothing on an idle machine.
void limit_spinning() {
  constexpr const char* kTurns = "1000";
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) setenv("GOMP_SPINCOUNT", kTurns, /*overwrite=*/0);
}

// LibTorch's network code (glog) would log errors in its own format that this program reports, too.
void limit_messages() {
  constexpr const char* kFatalOnly = "3";
  setenv("GLOG_minloglevel", kFatalOnly, /*overwrite=*/0);
}

// OpenMP also reads this variable when it is loaded, and aborts the process if it cannot start that
// many threads.
void check_number_of_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  if (text == nullptr || openmp_threads(text)) return;
  if (*text != '\0') {
    log::warning(fmt::format(
        "OMP_NUM_THREADS: expected a number of threads from 1 to 1024, got {}; ignoring it",
        in_quotes(text)));
  }
  unsetenv("OMP_NUM_THREADS");
}

// Returns the limit of the address space (`ulimit -v`) in bytes, or 0 if there is none.
uint64_t address_space_limit() {
  rlimit limit{};
  const bool is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return is_limited ? limit.rlim_cur : 0;
}

Error too_little_memory() {
  return {
      ErrorKind::kOutOfMemory,
      fmt::format(
          "LibTorch needs more than the {} of address space that ulimit -v allows; raise the limit",
          human_bytes(address_space_limit()))};
}

// Makes OpenBLAS allocate all of its memory now. It allocates some when it is loaded, more for its
// first product, and more for the first product that is large enough for several threads.
void multiply_with_blas() {
  using Sgemm = void (*)(const char*, const char*, const int64_t*, const int64_t*, const int64_t*,
                         const float*, const float*, const int64_t*, const float*, const int64_t*,
                         const float*, float*, const int64_t*);
  const auto sgemm = reinterpret_cast<Sgemm>(dlsym(RTLD_DEFAULT, "sgemm_"));
  if (sgemm == nullptr) return;
  const int64_t order = 256;  // little-endian, so also right for a BLAS with 32-bit integers
  const float one = 1;
  const std::vector<float> factor(static_cast<std::size_t>(order * order));
  std::vector<float> product(factor.size());
  sgemm("N", "N", &order, &order, &order, &one, factor.data(), &order, factor.data(), &order, &one,
        product.data(), &order);
}

/// The result of loading the engine library, and LibTorch with it.
struct Opened {
  void* symbol = nullptr;
  std::string reason;  // why `symbol` is nullptr
};

Opened open_engine(const std::filesystem::path& library) {
  Opened opened;
  opened.symbol = symbol_in(library, engine::kApiSymbol, Symbols::kGlobal, opened.reason);
  // Memory that is available now may be taken once the data have been read.
  if (opened.symbol != nullptr && address_space_limit() > 0) multiply_with_blas();
  return opened;
}

// A BLAS that gets no memory retries forever. With a limit of the address space, a child process
// therefore loads the engine first, to see whether it fits.
void require_address_space(const std::filesystem::path& library) {
  if (address_space_limit() == 0) return;
  const pid_t child = fork();
  if (child < 0) throw too_little_memory();
  if (child == 0) {
    constexpr rlimit kSeconds{3, 3};  // CPU time; loading takes a tenth of it
    setrlimit(RLIMIT_CPU, &kSeconds);
    constexpr rlimit kNoCoreFile{0, 0};
    setrlimit(RLIMIT_CORE, &kNoCoreFile);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    try {
      run::correct_blas_core();
      open_engine(library);
    } catch (...) {
      _exit(1);
    }
    _exit(0);  // the parent itself finds out whether the library can be loaded
  }
  int status = 0;
  until_done([&] { return waitpid(child, &status, 0); });
  if (status != 0) throw too_little_memory();
}

std::filesystem::path library_file() { return library_path("trainer_engine"); }

// The future is not valid() until loading has started. Its destructor waits for the loading thread.
std::shared_future<Opened>& opened_engine() {
  static std::shared_future<Opened> opened;
  return opened;
}

const engine::Api* load_engine() {
  const TimedStage timed(Stage::kLoadEngine);
  start_loading_engine();
  const Opened& opened = opened_engine().get();
  if (opened.symbol != nullptr) {
    return reinterpret_cast<engine::ApiFunction>(opened.symbol)();
  }
  if (address_space_limit() > 0 &&
      opened.reason.find("failed to map segment") != std::string::npos) {
    throw too_little_memory();
  }
  throw Error(ErrorKind::kDevice,
              fmt::format("cannot load {}: {}; keep lib/ next to bin/ as installed, and check that "
                          "LibTorch is installed",
                          library_file().filename().string(), opened.reason));
}

}  // namespace

void start_loading_engine() {
  if (opened_engine().valid()) return;
  // These come before the other thread starts, because the environment must not change while that
  // thread reads it.
  limit_spinning();
  limit_messages();
  check_number_of_threads();
  require_address_space(library_file());
  run::correct_blas_core();
  // With a limit of the address space, LibTorch is loaded before the data are read, and in this
  // thread, because another thread needs address space, too.
  const bool is_short = address_space_limit() > 0;
  opened_engine() = std::async(is_short ? std::launch::deferred : std::launch::async, [] {
                      return open_engine(library_file());
                    }).share();
  if (is_short) opened_engine().wait();
}

bool is_loading_engine() {
  return opened_engine().valid() &&
         opened_engine().wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
}

const engine::Api& engine_library() {
  static const engine::Api* const api = load_engine();
  return *api;
}

}  // namespace trainer::cli
