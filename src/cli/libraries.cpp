// SPDX-License-Identifier: Apache-2.0
#include "cli/libraries.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/log.h"
#include "trainer/base/io/optional_library.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/time/timeline.h"
#include "trainer/base/version.h"
#include "trainer/run/folder/system_info.h"

#include "cli/engine_wheel.h"

namespace trainer::cli {
namespace {

/// kGlobal: libraries that are loaded later can use the symbols of this one.
enum class Symbols { kGlobal, kLocal };

/// Opens the library and returns the address of `symbol`, or nullptr with the reason in `reason`.
/// The library stays loaded.
void* symbol_in(const std::filesystem::path& library, const char* symbol, Symbols symbols,
                std::string& reason) {
  // `library` must be a full path: for a bare name, dlopen searches the RUNPATH of its caller,
  // which under AddressSanitizer is the sanitizer runtime.
  const int scope = symbols == Symbols::kGlobal ? RTLD_GLOBAL : RTLD_LOCAL;
  void* handle = dlopen(library.c_str(), RTLD_NOW | scope);
  void* address = handle == nullptr ? nullptr : dlsym(handle, symbol);
  if (address == nullptr) {
    const char* message = dlerror();
    reason = message == nullptr ? "unknown reason" : message;
  }
  return address;
}

constexpr const char* kIsOfVersion = " is of version ";
constexpr const char* kSameVersion = "install both in the same version";

/// What to do about a library that cannot be used for `reason`. One of another version asks for
/// functions that the core has not, and one for another LibTorch or ONNX for theirs.
std::string advice_on(const std::string& reason, std::string_view otherwise) {
  if (reason.find(kIsOfVersion) != std::string::npos) return kSameVersion;
  const bool is_foreign = reason.find("undefined symbol") != std::string::npos ||
                          reason.find("Symbol not found") != std::string::npos;  // macOS
  if (!is_foreign) return std::string(otherwise);
  return fmt::format(
      "it belongs to another version than trainer {}, or was built with another version of what it "
      "needs; install all of trainer in one version",
      build_info().version);
}

/// Returns what is wrong with a library that is part of `version`, or an empty text. The functions
/// of another version than this program's take other arguments.
std::string version_problem(const std::filesystem::path& library, const std::string& version) {
  if (version == build_info().version) return "";
  return fmt::format("{}{}{} and trainer of {}", library.filename().string(), kIsOfVersion, version,
                     build_info().version);
}

/// Throws Error(kind) if `library`, which returned `api`, is of another version than this program.
template <typename Api>
const Api* of_this_version(const std::filesystem::path& library, const Api* api, ErrorKind kind) {
  const std::string problem = version_problem(library, api->version);
  if (problem.empty()) return api;
  throw Error(kind, fmt::format("{}; {}", problem, kSameVersion));
}

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

// A program without the library is complete: it applies models.
void require_engine() {
  const std::string problem = engine_wheel_problem();
  if (!problem.empty()) throw Error(ErrorKind::kDevice, problem);
  if (std::filesystem::exists(library_file())) return;
  if (build_info().libtorch == "none") {
    throw Error(ErrorKind::kDevice,
                "this trainer applies models and cannot train, because it was built without "
                "LibTorch; install one with it (a wheel of Python: pip install "
                "'trainer-cli[train]')");
  }
  throw Error(ErrorKind::kDevice,
              fmt::format("this needs {}, which is not in {}; install the package trainer-engine, "
                          "or keep lib/ next to bin/ as installed",
                          library_file().filename().string(),
                          library_file().parent_path().lexically_normal().string()));
}

const engine::Api* load_engine() {
  const TimedStage timed(Stage::kLoadEngine);
  start_loading_engine();
  const Opened& opened = opened_engine().get();
  if (opened.symbol != nullptr) {
    return of_this_version(library_file(), reinterpret_cast<engine::ApiFunction>(opened.symbol)(),
                           ErrorKind::kDevice);
  }
  if (address_space_limit() > 0 &&
      opened.reason.find("failed to map segment") != std::string::npos) {
    throw too_little_memory();
  }
  throw Error(
      ErrorKind::kDevice,
      fmt::format(
          "cannot load {}: {}; {}", library_file().filename().string(), opened.reason,
          advice_on(opened.reason, fmt::format("check that LibTorch {} is installed, or install "
                                               "trainer again",
                                               build_info().libtorch))));
}

}  // namespace

void start_loading_engine() {
  if (opened_engine().valid()) return;
  require_engine();
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

namespace {

const onnx_export::Api* load_onnx() {
  const std::filesystem::path library = library_path("trainer_onnx");
  if (!std::filesystem::exists(library)) {
    throw Error(
        ErrorKind::kUsage,
        "--format onnx: this trainer has no ONNX support; install the package trainer-onnx, "
        "or ONNX (Debian, Ubuntu: apt-get install libonnx-dev; macOS: brew install onnx) "
        "and build again, or export to .safetensors or .pt");
  }
  std::string reason;
  // Symbols stay local, because LibTorch has its own copy of ONNX and may be loaded later.
  void* symbol = symbol_in(library, onnx_export::kApiSymbol, Symbols::kLocal, reason);
  if (symbol == nullptr) {
    throw Error(
        ErrorKind::kUsage,
        fmt::format("--format onnx: cannot load {}: {}; {}", library.filename().string(), reason,
                    advice_on(reason,
                              "install ONNX (Debian, Ubuntu: apt-get install libonnx1; "
                              "macOS: brew install onnx), or export to .safetensors or "
                              ".pt")));
  }
  return of_this_version(library, reinterpret_cast<onnx_export::ApiFunction>(symbol)(),
                         ErrorKind::kUsage);
}

// Runs in a child process: writes to `output` why the library cannot be used, if so, and exits.
[[noreturn]] void try_in_child(const std::filesystem::path& library, int output) {
  std::string problem;
  void* symbol = symbol_in(library, onnx_export::kApiSymbol, Symbols::kLocal, problem);
  if (symbol != nullptr) {
    problem =
        version_problem(library, reinterpret_cast<onnx_export::ApiFunction>(symbol)()->version);
  }
  const bool is_told = write(output, problem.data(), problem.size()) == std::ssize(problem);
  _exit(problem.empty() && is_told ? 0 : 1);
}

std::string read_all(int input) {
  std::string text;
  std::array<char, 512> bytes{};
  while (true) {
    const ssize_t count = until_done([&] { return read(input, bytes.data(), bytes.size()); });
    if (count <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

// Returns why the library cannot be used, or an empty text if it can.
std::string problem_of(const std::filesystem::path& library) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return "no pipe to a child process";
  std::fflush(nullptr);  // otherwise the child inherits buffered output
  const pid_t child = fork();
  if (child == 0) try_in_child(library, ends[1]);
  close(ends[1]);
  std::string reason = child < 0 ? "no child process to try it" : read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  if (child > 0) until_done([&] { return waitpid(child, &status, 0); });
  if (status != 0 && reason.empty()) reason = "it ends the process that opens it";
  return reason;
}

}  // namespace

doctor::LibraryFacts onnx_facts() {
  doctor::LibraryFacts facts{.name = "ONNX", .purpose = "trainer export to .onnx"};
  const std::filesystem::path library = library_path("trainer_onnx");
  if (!std::filesystem::exists(library)) {
    facts.text = "this program has no support for it";
    facts.advice =
        "install the package trainer-onnx, or libonnx-dev (macOS: brew install onnx) and build "
        "again";
    return facts;
  }
  facts.text = problem_of(library);
  facts.is_there = facts.text.empty();
  if (facts.is_there) {
    facts.text = "can be opened";
  } else {
    facts.advice = advice_on(facts.text, "install libonnx1 (macOS: brew install onnx)");
  }
  return facts;
}

const onnx_export::Api& onnx_library() {
  static const onnx_export::Api* const api = load_onnx();
  return *api;
}

}  // namespace trainer::cli
