// SPDX-License-Identifier: Apache-2.0
// The speed of a disk is measured for what a run writes: short texts and a large file, which are
// synced to the disk before the clock stops, as checkpoints are.
#include "trainer/diagnose/doctor/collect.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/read_text.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/text/json.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/launch/place.h"
#include "trainer/nn/cpu/kernels.h"
#include "trainer/run/folder/system_info.h"
#include "trainer/table/duckdb/query.h"

#ifdef TRAINER_HAS_SQLITE
#include <sqlite3.h>
#endif
#ifdef TRAINER_HAS_ZSTD
#include <zstd.h>
#endif
#ifdef __APPLE__
extern char** environ;  // unistd.h does not declare it there
#endif
#ifdef __APPLE__
#include <sys/mount.h>
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

LoadedFacts loaded_facts(const std::vector<std::filesystem::path>& libraries) {
  // Wheels and conda have names such as libgomp-a34b3233.so.1; GNU's, LLVM's and Intel's runtime.
  constexpr std::array<std::string_view, 6> kOpenMp = {"libgomp.", "libgomp-",  "libomp.",
                                                       "libomp-",  "libiomp5.", "libiomp5-"};
  constexpr std::array<std::string_view, 9> kBlas = {"libopenblas", "libblas",      "libcblas",
                                                     "libmkl_",     "libblis",      "libsatlas",
                                                     "libtatlas",   "libnvpl_blas", "libBLAS."};
  LoadedFacts facts;
  for (const std::filesystem::path& library : libraries) {
    const std::string name = library.filename().string();
    const auto begins = [&](std::string_view start) { return name.starts_with(start); };
    if (std::any_of(kOpenMp.begin(), kOpenMp.end(), begins)) facts.openmp.push_back(library);
    if (std::any_of(kBlas.begin(), kBlas.end(), begins)) facts.blas.push_back(library);
  }
  return facts;
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

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr int64_t kMaxBlocks = 64;
constexpr double kMaxSeconds = 0.7;
constexpr int kNumSyncs = 5;

/// A file that the destructor removes.
class ScratchFile {
 public:
  explicit ScratchFile(const fs::path& folder)
      : path_(folder / fmt::format(".trainer_doctor_{}", getpid())), descriptor_(until_done([&] {
          return open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        })) {}
  ~ScratchFile() {
    if (!is_open()) return;
    close(descriptor_);
    unlink(path_.c_str());
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

 private:
  fs::path path_;
  int descriptor_;
};

std::string system_message() { return std::strerror(errno); }

bool write_all(int descriptor, const std::string& bytes) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = until_done(
        [&] { return write(descriptor, bytes.data() + written, bytes.size() - written); });
    if (count <= 0) return false;
    written += static_cast<std::size_t>(count);
  }
  return true;
}

// Random bytes, which a file system cannot compress.
std::string noise() {
  std::string bytes(kBlockBytes, '\0');
  uint64_t state = 88172645463325252;
  for (char& byte : bytes) {  // Marsaglia's xorshift
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    byte = static_cast<char>(state & 0xffU);
  }
  return bytes;
}

void measure_writing(int descriptor, FolderFacts& facts) {
  const std::string block = noise();
  const auto space = static_cast<int64_t>(facts.free_bytes / kBlockBytes / 4);
  const Stopwatch stopwatch;
  int64_t written = 0;
  while (written < std::min(kMaxBlocks, space) && stopwatch.seconds() < kMaxSeconds) {
    if (!write_all(descriptor, block)) {
      facts.problem = system_message();
      return;
    }
    ++written;
  }
  if (written == 0 || sync_file(descriptor) != 0) return;
  facts.bytes_per_second = static_cast<double>(written) * kBlockBytes / stopwatch.seconds();
}

void measure_syncs(int descriptor, FolderFacts& facts) {
  std::array<double, kNumSyncs> seconds{};
  for (double& one : seconds) {
    const Stopwatch stopwatch;
    if (!write_all(descriptor, "{\"step\": 1}\n") || sync_file(descriptor) != 0) return;
    one = stopwatch.seconds();
  }
  std::sort(seconds.begin(), seconds.end());
  facts.sync_seconds = seconds[kNumSyncs / 2];
}

#ifdef __APPLE__
std::string file_system_of(const fs::path& folder) {
  struct statfs info {};
  return statfs(folder.c_str(), &info) == 0 ? info.f_fstypename : "";
}
#else
// The type of the mount point with the longest path that contains the folder. The format of the
// file is in proc(5), mountinfo.
std::string file_system_of(const fs::path& folder) {
  std::ifstream mounts("/proc/self/mountinfo");
  std::string found;
  std::size_t longest = 0;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::array<std::string, 5> fields;
    for (std::string& field : fields) words >> field;
    const std::string& point = fields[4];
    const std::string inside = point == "/" ? point : point + "/";
    const bool holds = (folder.string() + "/").starts_with(inside);
    const std::size_t separator = line.find(" - ");
    if (!holds || point.size() < longest || separator == std::string::npos) continue;
    longest = point.size();
    found = line.substr(separator + 3, line.find(' ', separator + 3) - separator - 3);
  }
  return found;
}
#endif

// The folder, or its nearest parent that exists; empty if that is not a folder, which `problem`
// then says.
fs::path existing_folder(const fs::path& path, std::string& problem) {
  std::error_code error;
  fs::path existing = fs::absolute(path, error).lexically_normal();
  while (!fs::exists(existing, error) && existing.has_relative_path()) {
    if (error) break;
    existing = existing.parent_path();
  }
  if (error) {
    problem = error.message();
    return {};
  }
  if (!fs::is_directory(existing, error)) {
    problem = fmt::format("{} is a file", existing.string());
    return {};
  }
  return fs::canonical(existing, error);
}

}  // namespace

FolderFacts measure_folder(const fs::path& path) {
  FolderFacts facts{.path = path};
  facts.existing = existing_folder(path, facts.problem);
  if (!facts.problem.empty()) return facts;
  std::error_code error;
  const fs::space_info space = fs::space(facts.existing, error);
  if (!error) facts.free_bytes = space.available;
  facts.file_system = file_system_of(facts.existing);
  const ScratchFile file(facts.existing);
  if (!file.is_open()) {
    facts.problem =
        fmt::format("cannot write into {}: {}", facts.existing.string(), system_message());
    return facts;
  }
  if (flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) facts.lock_problem = system_message();
  measure_syncs(file.descriptor(), facts);
  measure_writing(file.descriptor(), facts);
  return facts;
}

}  // namespace trainer::doctor
