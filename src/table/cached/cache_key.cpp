// SPDX-License-Identifier: Apache-2.0
#include "table/cached/cache_key.h"

#include <sys/stat.h>

#include <chrono>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/io/checksum.h"
#include "trainer/base/io/user_folders.h"
#include "trainer/base/version.h"
#include "trainer/config/config.h"
#include "trainer/config/fields.h"
#include "trainer/table/source/table_source.h"

namespace trainer::cache {
namespace {

namespace fs = std::filesystem;

constexpr int kRowFormat = 2;  // of rows.bin: versions that differ share no folder

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

}  // namespace trainer::cache
