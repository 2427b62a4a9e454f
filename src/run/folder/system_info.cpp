// SPDX-License-Identifier: Apache-2.0
// OpenBLAS has kernels for many CPUs and chooses among them once, when it is loaded, by the model
// number of the CPU (driver/others/dynamic.c of its sources). Up to 0.3.18 every number that it
// does not know, and up to 0.3.24 some of Intel's, became "Prescott", a CPU of 2004 without AVX
// (https://github.com/OpenMathLib/OpenBLAS/issues/4267): 4.5 times slower on Sapphire Rapids. The
// environment variable OPENBLAS_CORETYPE overrides the choice, but has to be set before. So the
// library is opened, queried, and closed again, which takes 2 ms, while loading LibTorch takes
// hundreds. Nothing may keep the library open before LibTorch does.
#include "trainer/run/folder/system_info.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "trainer/base/io/sysctl.h"  // IWYU pragma: keep
#include "trainer/base/parallel/cpus.h"
#include "trainer/base/text/format.h"
#include "trainer/base/text/json.h"
#include "trainer/base/version.h"
#include "trainer/run/folder/libraries.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace trainer::run {
namespace {

#ifdef __APPLE__
std::string cpu_model() {
  const std::string name = sysctl_text("machdep.cpu.brand_string");
  return name.empty() ? "unknown" : name;
}
#else
// Returns the part after the colon of the first line of `path` that begins with `key`.
std::string line_value(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "";
}

std::string cpu_model() {
  const std::string name = line_value("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}
#endif

std::string operating_system(const utsname& names) {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("PRETTY_NAME=\"")) return line.substr(13, line.size() - 14);
  }
  return fmt::format("{} {}", names.sysname, names.release);
}

uint64_t memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0
             ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes)
             : 0;
}

}  // namespace

Json system_info() {
  utsname names{};
  uname(&names);
  const BuildInfo& build = build_info();
  const BlasInfo blas = blas_info();
  Json info = {{"schema_version", 1},
               {"time", timestamp()},
               {"host",
                {{"name", names.nodename},
                 {"os", operating_system(names)},
                 {"kernel", names.release},
                 {"architecture", names.machine},
                 {"cpu", cpu_model()},
                 {"logical_cpus", std::thread::hardware_concurrency()},
                 {"memory_bytes", memory_bytes()}}},
               {"build",
                {{"version", build.version},
                 {"git_commit", build.git_commit},
                 {"git_dirty", build.git_dirty},
                 {"compiler", build.compiler},
                 {"build_type", build.build_type},
                 {"libtorch", build.libtorch}}},
               {"libraries", Json::object()},
               {"blas", blas.name}};
  for (const auto& [name, version] : library_versions()) info["libraries"][name] = version;
  if (!blas.core.empty()) info["blas_core"] = blas.core;
  if (!blas.mistaken.empty()) info["blas_core_mistaken"] = blas.mistaken;
  return info;
}

std::string accelerator_text(const JsonReader& accelerator) {
  std::string text = accelerator.text("device");
  if (accelerator.has("name")) text += " " + accelerator.text("name");
  if (accelerator.has("memory_bytes")) {
    text += ", " + human_bytes(static_cast<uint64_t>(accelerator.integer("memory_bytes")));
  }
  if (accelerator.has("driver")) text += ", driver " + accelerator.text("driver");
  return text;
}

std::string timestamp() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S%z}", fmt::localtime(std::time(nullptr)));
}

namespace {

#ifndef __APPLE__
constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";

// The core that OpenBLAS had chosen, if correct_blas_core() has replaced it; else empty.
std::string& mistaken_core() {
  static std::string core;
  return core;
}

/// Opens the library with the name that LibTorch links to.
class Blas {
 public:
  Blas() : handle_(open()) {}
  ~Blas() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;

  bool is_there() const { return handle_ != nullptr; }
  void* symbol(const char* name) const { return dlsym(handle_, name); }

  // Calls a function of OpenBLAS that returns a text; empty if this is another library.
  std::string text_of(const char* function) const {
    void* address = symbol(function);
    return address == nullptr ? "" : reinterpret_cast<const char* (*)()>(address)();
  }
  std::string core() const { return text_of("openblas_get_corename"); }

 private:
  static void* open() {
#ifdef __SANITIZE_ADDRESS__
    // Each time that libgomp is loaded, it allocates 8 bytes that are never freed.
    const __lsan::ScopedDisabler unchecked;
#endif
    return dlopen("libblas.so.3", RTLD_LAZY | RTLD_LOCAL);
  }

  void* handle_;
};

std::string core_of_blas() {
  const Blas blas;
  return blas.is_there() ? blas.core() : "";
}

// Shortens "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH USE_OPENMP ..." to version and kind of threads.
std::string short_openblas_name(const std::string& config) {
  const std::size_t version_end = config.find(' ', config.find(' ') + 1);
  const bool openmp = config.find("USE_OPENMP") != std::string::npos;
  return fmt::format("{} ({})", config.substr(0, version_end), openmp ? "OpenMP" : "pthreads");
}
#endif

}  // namespace

Vectors vectors_of_this_cpu() {
  if (has_avx512()) return Vectors::kAvx512;
  return has_avx2() ? Vectors::kAvx2 : Vectors::kOlder;
}

BlasInfo blas_info() {
#ifdef __APPLE__
  return {build_info().system_blas ? "Accelerate" : "bundled with LibTorch"};
#else
  if (!build_info().system_blas) return {"bundled with LibTorch"};
  const Blas blas;
  if (!blas.is_there()) return {"not found", true};
  if (const std::string config = blas.text_of("openblas_get_config"); !config.empty()) {
    return {short_openblas_name(config), false, blas.core(), mistaken_core()};
  }
  Dl_info where{};
  void* sgemm = blas.symbol("sgemm_");
  if (sgemm == nullptr || dladdr(sgemm, &where) == 0) return {"unknown"};
  const std::string path = std::filesystem::weakly_canonical(where.dli_fname).string();
  const bool is_fast = path.find("mkl") != std::string::npos ||
                       path.find("blis") != std::string::npos ||
                       path.find("atlas") != std::string::npos;
  return {path, !is_fast};
#endif
}

std::optional<std::string> better_blas_core(std::string_view core, Vectors vectors) {
  // The names in dynamic.c of CPUs without AVX2.
  constexpr std::array<std::string_view, 21> kOldCores = {
      "Unknown",     "Katmai",     "Coppermine", "Northwood",  "Prescott",  "Banias",
      "Atom",        "Core2",      "Penryn",     "Dunnington", "Nehalem",   "Athlon",
      "Opteron",     "Nano",       "Bobcat",     "Barcelona",  "Bulldozer", "Opteron_SSE3",
      "Sandybridge", "Piledriver", "Steamroller"};
  const bool is_old = std::find(kOldCores.begin(), kOldCores.end(), core) != kOldCores.end();
  if (!is_old || vectors == Vectors::kOlder) return std::nullopt;
  return vectors == Vectors::kAvx512 ? "SkylakeX" : "Haswell";
}

void correct_blas_core() {
#ifndef __APPLE__
  if (!build_info().system_blas || std::getenv(kCoreVariable) != nullptr) return;
  const std::string core = core_of_blas();
  const std::optional<std::string> better = better_blas_core(core, vectors_of_this_cpu());
  if (!better) return;
  setenv(kCoreVariable, better->c_str(), /*overwrite=*/1);
  if (core_of_blas() != core) {
    mistaken_core() = core;
  } else {
    unsetenv(kCoreVariable);  // OpenBLAS lacks these kernels, or the library was open before
  }
#endif
}

}  // namespace trainer::run
