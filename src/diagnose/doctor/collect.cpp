// SPDX-License-Identifier: Apache-2.0
#include "trainer/diagnose/doctor/collect.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#ifdef TRAINER_HAS_SQLITE
#include <sqlite3.h>
#endif
#ifdef TRAINER_HAS_ZSTD
#include <zstd.h>
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <thread>

#include "trainer/base/error.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/text/json.h"
#include "trainer/launch/place.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/run/folder/system_info.h"
#include "trainer/table/duckdb/query.h"

#ifdef __APPLE__
extern char** environ;  // unistd.h does not declare it there
#endif

namespace trainer::doctor {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<uint64_t> limit_of(int resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

CpuFacts cpu_facts() {
  CpuFacts cpu;
  const Json system = run::system_info();
  cpu.model = system.at("host").at("cpu").get<std::string>();
#ifdef __x86_64__
  cpu.is_x86 = true;
#endif
  cpu.instructions = vector_instructions();
  cpu.kernels = cpu::instruction_set_name(cpu::kernels().instruction_set);
  cpu.num_logical = std::max(1U, std::thread::hardware_concurrency());
  cpu.limits = cpu_limits();
  // The C++ library counts only the CPUs of the affinity mask, so prefer the number of the system.
  if (const int64_t online = sysconf(_SC_NPROCESSORS_ONLN); online > 0) cpu.num_logical = online;
  cpu.num_usable = usable_cpus();
  double load = 0;
  if (getloadavg(&load, 1) == 1) cpu.load = load;
  cpu.omp_num_threads = variable("OMP_NUM_THREADS");
  return cpu;
}

SpeedFacts measure_speed() {
  SpeedFacts speed;
  speed.num_threads = usable_cpus();
  speed.flops_of_one_thread = cpu::measure_flops(1);
  speed.peak = cpu::measure_peak(speed.num_threads);
  return speed;
}

MemoryFacts memory_facts() {
  MemoryFacts memory;
  memory.machine = std::max<int64_t>(0, sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  memory.total = total_memory();
  memory.available = available_memory();
  std::ifstream file("/proc/meminfo");
  int64_t unused = 0;
  for (std::string name, rest; file >> name; std::getline(file, rest)) {
    int64_t kibibytes = 0;
    if (name == "SwapTotal:" && file >> kibibytes) memory.swap = kibibytes * 1024;
    if (name == "SwapFree:" && file >> kibibytes) unused = kibibytes * 1024;
  }
  memory.swap_used = std::max<int64_t>(0, memory.swap - unused);
  return memory;
}

LimitFacts limit_facts() {
  return {.address_space = limit_of(RLIMIT_AS), .open_files = limit_of(RLIMIT_NOFILE)};
}

std::vector<LibraryFacts> library_facts() {
  LibraryFacts duckdb{.name = "DuckDB", .purpose = "Parquet, JSON, Excel and SQL (data.query)"};
  duckdb.is_there = duckdb::is_available(duckdb.text);
  if (!duckdb.is_there) {
    duckdb.advice = "install it with scripts/setup.sh duckdb (macOS: brew install duckdb)";
  }
  LibraryFacts sqlite{.name = "SQLite", .purpose = "tables in SQLite databases"};
  LibraryFacts zstd{.name = "zstd", .purpose = "tables packed with zstd"};
#ifdef TRAINER_HAS_SQLITE
  sqlite.is_there = true;
  sqlite.text = sqlite3_libversion();
#else
  sqlite.text = "this program was built without it";
  sqlite.advice = "install libsqlite3-dev (macOS: brew install sqlite) and build again";
#endif
#ifdef TRAINER_HAS_ZSTD
  zstd.is_there = true;
  zstd.text = ZSTD_versionString();
#else
  zstd.text = "this program was built without it";
  zstd.advice = "install libzstd-dev (macOS: brew install zstd) and build again";
#endif
  return {duckdb, sqlite, zstd};
}

TerminalFacts terminal_facts() {
  TerminalFacts facts;
  facts.is_terminal = isatty(STDOUT_FILENO) == 1;
  facts.features = standard_output_terminal();
  facts.name = variable("TERM");
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (facts.locale.empty()) facts.locale = variable(name);
  }
  return facts;
}

LauncherFacts launcher_facts() {
  try {
    const launch::Place place = launch::find_place(launch::process_environment);
    return {.name = launch::name_of(place.launcher), .rank = place.rank, .size = place.size};
  } catch (const Error& error) {
    return {.problem = error.what()};
  }
}

std::vector<std::pair<std::string, std::string>> environment_facts() {
  constexpr std::array<std::string_view, 16> kPrefixes = {
      "OMP_",   "GOMP_", "KMP_",     "OPENBLAS_", "MKL_",    "CUDA_", "NVIDIA_",   "PYTORCH_",
      "TORCH_", "GLOO_", "TRAINER_", "LD_",       "MALLOC_", "DYLD_", "NO_COLOR=", "CI="};
  std::vector<std::pair<std::string, std::string>> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    const bool is_known = std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                      [&](std::string_view one) { return text.starts_with(one); });
    if (!is_known || equals == std::string_view::npos) continue;
    found.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace trainer::doctor
