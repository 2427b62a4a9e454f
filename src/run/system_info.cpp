// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/system_info.h"

#include <dlfcn.h>
#include <sys/utsname.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif

#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "trainer/core/json.h"
#include "trainer/core/version.h"

namespace trainer::run {
namespace {

#ifdef __APPLE__
std::string cpu_model() {
  char text[256] = {};
  std::size_t size = sizeof text - 1;
  return sysctlbyname("machdep.cpu.brand_string", text, &size, nullptr, 0) == 0 ? text : "unknown";
}
#else
// The part after the colon of the first line of `path` that begins with `key`.
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

#ifndef __APPLE__
// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH USE_OPENMP ..." as two facts that matter.
std::string short_openblas_name(const std::string& config) {
  const std::size_t version_end = config.find(' ', config.find(' ') + 1);
  const bool openmp = config.find("USE_OPENMP") != std::string::npos;
  return fmt::format("{} ({})", config.substr(0, version_end), openmp ? "OpenMP" : "pthreads");
}
#endif

}  // namespace

BlasInfo blas_info() {
#ifdef __APPLE__
  return {build_info().system_blas ? "Accelerate" : "bundled with LibTorch", false};
#else
  if (!build_info().system_blas) return {"bundled with LibTorch", false};
  // The name that LibTorch itself links to; it costs a millisecond where LibTorch is not loaded.
  void* library = dlopen("libblas.so.3", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return {"not found", true};
  if (void* config = dlsym(library, "openblas_get_config")) {
    return {short_openblas_name(reinterpret_cast<const char* (*)()>(config)()), false};
  }
  Dl_info where{};
  void* sgemm = dlsym(library, "sgemm_");
  if (sgemm == nullptr || dladdr(sgemm, &where) == 0) return {"unknown", false};
  const std::string path = std::filesystem::weakly_canonical(where.dli_fname).string();
  const bool is_fast = path.find("mkl") != std::string::npos ||
                       path.find("blis") != std::string::npos ||
                       path.find("atlas") != std::string::npos;
  return {path, !is_fast};
#endif
}

Json system_info() {
  utsname names{};
  uname(&names);
  const BuildInfo& build = build_info();
  return {{"schema_version", 1},
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
          {"blas", blas_info().name}};
}

std::string timestamp() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S%z}", fmt::localtime(std::time(nullptr)));
}

}  // namespace trainer::run
