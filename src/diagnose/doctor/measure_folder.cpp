// SPDX-License-Identifier: Apache-2.0
// Measures how fast a disk is for what a run writes: short texts and a large file, which are synced
// to the disk before the clock stops, as checkpoints are.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/mount.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/until_done.h"
#include "trainer/base/time/stopwatch.h"
#include "trainer/diagnose/doctor/collect.h"

namespace trainer::doctor {
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
