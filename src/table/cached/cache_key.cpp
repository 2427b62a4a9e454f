// SPDX-License-Identifier: Apache-2.0
// Each change of a data key, of the seed or of a file makes a new cache, as large as the table, and
// nobody thinks of the old ones. A run sets the time of the folder that it uses, see find() in
// load.cpp; a run that still has one mapped keeps its pages until it ends, as for any removed file.
#include "table/cached/cache_key.h"

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/checksum.h"
#include "trainer/base/io/folder_lock.h"
#include "trainer/base/io/user_folders.h"
#include "trainer/base/text/format.h"
#include "trainer/base/version.h"
#include "trainer/config/config.h"
#include "trainer/config/fields.h"
#include "trainer/table/source/table_source.h"

namespace trainer::cache {
namespace {

namespace fs = std::filesystem;

constexpr int kRowFormat = 3;  // of rows.bin: versions that differ share no folder

// The coarsest times of file systems in use are two seconds apart (FAT).
constexpr int64_t kTimeStep = 2'000'000'000;

struct FileState {
  std::string path;
  uint64_t num_bytes = 0;
  int64_t changed = 0;  // nanoseconds since 1970
};

int64_t now() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

// Nothing for what is no file, such as a pipe: the reader has the words for a missing one.
std::optional<FileState> state_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
#ifdef __APPLE__
  const timespec& time = status.st_mtimespec;
#else
  const timespec& time = status.st_mtim;
#endif
  return FileState{.path = fs::absolute(path).lexically_normal().string(),
                   .num_bytes = static_cast<uint64_t>(status.st_size),
                   .changed = int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec};
}

std::optional<std::vector<FileState>> states_of(const config::DataConfig& data) {
  std::vector<std::string> paths = data::source_files(data.path);
  for (const std::string& path : {data.validation_path, data.test_path}) {
    if (path.empty()) continue;
    const std::vector<std::string> files = data::source_files(path);
    paths.insert(paths.end(), files.begin(), files.end());
  }
  std::vector<FileState> states;
  for (const std::string& path : paths) {
    std::optional<FileState> state = state_of(path);
    if (!state) return std::nullopt;
    states.push_back(std::move(*state));
  }
  return states;
}

std::string key_text(const config::DataConfig& data, uint64_t seed,
                     std::span<const FileState> files) {
  const BuildInfo& build = build_info();
  std::string text = fmt::format("trainer {} {}\nformat {}\nseed {}\n", build.version,
                                 build.git_commit, kRowFormat, seed);
  config::Config config;
  config.data = data;
  for (const config::Field& field : config::fields()) {
    const bool is_of_data = field.path.starts_with("data.") && field.path != "data.cache" &&
                            field.path != "data.shuffle_window";
    if (!is_of_data) continue;
    text += fmt::format("{}: {}\n", field.path, config::value_text(field, config));
  }
  for (const FileState& file : files) {
    text += fmt::format("{}: {} bytes, changed at {}\n", file.path, file.num_bytes, file.changed);
  }
  return text;
}

}  // namespace

std::optional<CacheKey> cache_key(const config::DataConfig& data, uint64_t seed) {
  const bool is_auto = data.cache == "auto";
  const bool has_folds = data.folds > 0 || data.validation_folds > 0;
  if (data.source != config::Source::kCsv || data.cache == "off" || (is_auto && has_folds)) {
    return std::nullopt;
  }
  const int64_t start = now();
  const std::optional<std::vector<FileState>> files = states_of(data);
  if (!files) return std::nullopt;
  CacheKey key;
  for (const FileState& file : *files) {
    if (file.changed + kTimeStep > start) return std::nullopt;
    key.num_bytes += file.num_bytes;
  }
  if (is_auto && key.num_bytes < kMinCachedBytes) return std::nullopt;
  key.text = key_text(data, seed, *files);
  const std::optional<fs::path> folder = is_auto ? cache_folder() : fs::path(data.cache);
  if (!folder) return std::nullopt;
  const uint32_t hash = crc32(std::as_bytes(std::span(key.text.data(), key.text.size())));
  key.folder =
      *folder / fmt::format("{}-{:08x}", fs::path(files->front().path).stem().string(), hash);
  return key;
}

namespace {

constexpr int kDays = 30;
constexpr std::chrono::hours kUnused{24 * kDays};

/// "sales-5f8d10c2", see cache_key.cpp.
bool is_cache_name(std::string_view name) {
  constexpr size_t kNumDigits = 8;
  if (name.size() <= kNumDigits || name[name.size() - kNumDigits - 1] != '-') return false;
  name.remove_prefix(name.size() - kNumDigits);
  return name.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Also of the temporary files that a killed process leaves.
bool is_file_of_cache(std::string_view name) {
  return name == "data.pt" || name == "rows.bin" || name.starts_with(".data.pt.tmp-") ||
         name.starts_with(".rows.bin.tmp-");
}

// The folder may be one that a user chose, with other things in it.
bool is_cache(const fs::path& folder) {
  if (!is_cache_name(folder.filename().string()) || fs::is_symlink(folder)) return false;
  std::error_code problem;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
    if (!is_file_of_cache(entry.path().filename().string())) return false;
  }
  return !problem;
}

bool is_unused(const fs::path& folder) {
  std::error_code problem;
  const fs::file_time_type used = fs::last_write_time(folder, problem);
  return !problem && used + kUnused < fs::file_time_type::clock::now();
}

uint64_t size_of(const fs::path& folder) {
  std::error_code problem;
  uint64_t num_bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
    const uint64_t size = entry.file_size(problem);
    if (!problem) num_bytes += size;
  }
  return num_bytes;
}

bool remove_if_unused(const fs::path& folder) {
  try {
    const FolderLock lock(folder);
    if (!is_unused(folder)) return false;  // another process has begun to use it
    std::error_code problem;
    fs::remove_all(folder, problem);
    return !problem;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string remove_unused(const fs::path& folder) {
  std::error_code problem;
  int num_removed = 0;
  uint64_t num_bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, problem)) {
    if (!entry.is_directory(problem) || !is_unused(entry) || !is_cache(entry)) continue;
    const uint64_t size = size_of(entry);
    if (!remove_if_unused(entry)) continue;
    ++num_removed;
    num_bytes += size;
  }
  if (num_removed == 0) return "";
  return fmt::format("removed {} that {} not used for {} days ({})", num_removed,
                     num_removed == 1 ? "was" : "were", kDays, human_bytes(num_bytes));
}

}  // namespace trainer::cache
