// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/folder/system_info.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "trainer/base/io/sysctl.h"  // IWYU pragma: keep
#include "trainer/base/text/format.h"
#include "trainer/base/text/json_reader.h"
#include "trainer/base/version.h"
#include "trainer/run/folder/blas.h"
#include "trainer/run/folder/libraries.h"

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

}  // namespace trainer::run
