// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/cached/load.h"

#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/base/io/folder_lock.h"
#include "trainer/base/io/log.h"
#include "trainer/base/memory/array.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/text/format.h"
#include "trainer/base/time/timeline.h"
#include "trainer/config/config.h"
#include "trainer/config/data_config.h"
#include "trainer/table/source/table_source.h"

#include "table/cached/cache_key.h"
#include "table/cached/stored_datasets.h"

namespace trainer::cache {
namespace {

namespace fs = std::filesystem;
using data::Datasets;

/// Keeps large arrays in files of a folder while it lives.
class ArraysInFiles {
 public:
  explicit ArraysInFiles(const fs::path& folder) { keep_arrays_in(folder); }
  ~ArraysInFiles() { keep_arrays_in({}); }
  ArraysInFiles(const ArraysInFiles&) = delete;
  ArraysInFiles& operator=(const ArraysInFiles&) = delete;
};

// Reading needs about twice the bytes of a text, and more of a packed file.
bool may_exceed_memory(const CacheKey& key) {
  constexpr uint64_t kPart = 8;
  const std::optional<int64_t> memory = available_memory();
  return memory && key.num_bytes > static_cast<uint64_t>(*memory) / kPart;
}

Datasets read_whole(const config::DataConfig& data, uint64_t seed, const CacheKey& key) {
  const ArraysInFiles arrays_in_files(may_exceed_memory(key) ? key.folder : fs::path());
  Datasets datasets = data::load_datasets(data, seed);
  const std::optional<CacheKey> now = cache_key(data, seed);
  if (!now || now->text != key.text) {
    throw Error(
        ErrorKind::kData,
        fmt::format("{}: changed while it was read; start again when it is complete", data.path));
  }
  return datasets;
}

// How much there is to map, and what follows if memory cannot keep it.
std::string size_text(const CacheKey& key) {
  const uint64_t num_bytes = stored_bytes(key);
  const std::optional<int64_t> memory = available_memory();
  const bool fits = !memory || num_bytes <= static_cast<uint64_t>(*memory);
  return fmt::format(" ({}{})", human_bytes(num_bytes),
                     fits ? "" : ", more than the memory that is free: read again in each epoch");
}

// What is damaged is as good as missing; `problem` says so.
std::optional<Datasets> find(const CacheKey& key, std::string& problem) {
  try {
    std::optional<Datasets> found = read_datasets(key);
    if (!found) return std::nullopt;
    found->cache = fmt::format("mapped from {}{}", key.folder.string(), size_text(key));
    std::error_code ignored;  // the time of its last use, see remove_unused()
    fs::last_write_time(key.folder, fs::file_time_type::clock::now(), ignored);
    return found;
  } catch (const Error& error) {
    problem = fmt::format("a cache was damaged and is made again: {}", error.what());
    return std::nullopt;
  }
}

std::string without_cache(const std::exception& error) {
  return fmt::format("this run goes on without a cache: {}", error.what());
}

// Keeps `datasets` in memory where they cannot be written.
Datasets store(Datasets&& datasets, const CacheKey& key) {
  try {
    write_datasets(key, datasets);
    Datasets written = *read_datasets(key);
    written.cache = fmt::format("written to {}{}", key.folder.string(), size_text(key));
    return written;
  } catch (const Error& error) {
    remove_temporary_files(key.folder);
    datasets.warnings.push_back(without_cache(error));
    return std::move(datasets);
  }
}

void make_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (!problem) return;
  throw Error(ErrorKind::kFileSystem,
              fmt::format("cannot create the folder {}: {}", folder.string(), problem.message()));
}

Datasets find_or_make(const config::DataConfig& data, uint64_t seed, const CacheKey& key) {
  std::string problem;
  if (std::optional<Datasets> found = find(key, problem)) return std::move(*found);
  std::optional<FolderLock> lock;
  try {
    make_folder(key.folder);
    lock.emplace(key.folder, FolderLock::WhenTaken::kWait);
  } catch (const Error& error) {
    Datasets datasets = data::load_datasets(data, seed);
    datasets.warnings.push_back(without_cache(error));
    return datasets;
  }
  // Another process may have made it meanwhile.
  if (std::optional<Datasets> found = find(key, problem)) return std::move(*found);
  remove_temporary_files(key.folder);  // of a killed one
  const std::string removed = remove_unused(key.folder.parent_path());
  Datasets datasets = store(read_whole(data, seed, key), key);
  if (!removed.empty()) datasets.cache += (datasets.cache.empty() ? "" : "; ") + removed;
  if (!problem.empty()) datasets.warnings.push_back(problem);
  return datasets;
}

}  // namespace

Datasets load_once(const config::DataConfig& data, uint64_t seed) {
  const std::optional<CacheKey> key = cache_key(data, seed);
  std::error_code problem;
  const fs::path folder = key ? key->folder.parent_path() : fs::path();
  if (key) fs::create_directories(folder, problem);
  const ArraysInFiles arrays_in_files(problem ? fs::path() : folder);
  return data::load_datasets(data, seed);
}

Datasets load(const config::DataConfig& data, uint64_t seed, const data::Schema* trained) {
  const TimedStage timed(Stage::kRead);
  const std::optional<CacheKey> key = cache_key(data, seed);
  if (!key) return data::load_datasets(data, seed, trained);
  Datasets datasets = find_or_make(data, seed, *key);
  if (trained == nullptr || datasets.schema == *trained) return datasets;
  datasets = {};  // an older version of this program read them in another way
  return data::load_datasets(data, seed, trained);
}

Datasets load_for_run(const config::Config& config, const data::Schema* trained) {
  const auto seed = static_cast<uint64_t>(config.seed);
  const char* label = "reading";
  for (const std::string& line : reading_plan(config.data, seed)) {
    log::overview(std::exchange(label, ""), line);
  }
  return load(config.data, seed, trained);
}

namespace {

/// What is free on the disk of a folder that may not be there yet; nothing if unknown.
std::optional<uint64_t> free_space(fs::path folder) {
  std::error_code problem;
  while (!fs::exists(folder, problem) && folder.has_relative_path()) folder = folder.parent_path();
  const fs::space_info space = fs::space(folder, problem);
  if (problem) return std::nullopt;
  return space.available;
}

// Three digits: those of a text are estimated.
std::string table_text(const data::TableSize& size) {
  int64_t unit = 1;
  while (size.num_rows / unit >= 1000) unit *= 10;
  const int64_t num_rows = (size.num_rows + unit / 2) / unit * unit;
  return fmt::format("about {} rows of {}", with_thousands(num_rows),
                     counted(size.num_features, "feature"));
}

// Of what is certain only: the table needs more than that while it is read.
void require_room(const config::DataConfig& data, const data::TableSize& size,
                  const std::optional<CacheKey>& key, std::optional<uint64_t> disk) {
  constexpr uint64_t kUnknown = std::numeric_limits<uint64_t>::max();
  const std::optional<int64_t> total = total_memory();
  const uint64_t memory = total ? static_cast<uint64_t>(*total) : kUnknown;
  const uint64_t in_cache = key ? disk.value_or(kUnknown) : 0;
  if (size.encoded_bytes <= memory || size.encoded_bytes <= in_cache) return;
  const std::string cache =
      key ? fmt::format(" and {} are free in {}; choose another folder with data.cache",
                        human_bytes(in_cache), key->folder.parent_path().string())
          : "; name a folder with as much space in data.cache";
  throw Error(ErrorKind::kOutOfMemory,
              fmt::format("{}: {} need {}, but this machine has {} of memory{}, or choose fewer "
                          "rows or columns (data.query, data.ignore)",
                          data.path, table_text(size), human_bytes(size.encoded_bytes),
                          human_bytes(memory), cache));
}

// Nothing where the system does not tell.
std::string free_text(std::optional<uint64_t> disk) {
  std::string text;
  if (const std::optional<int64_t> memory = available_memory()) {
    text = fmt::format("free: {} of memory", human_bytes(static_cast<uint64_t>(*memory)));
  }
  if (disk) {
    text += fmt::format("{}{} of disk", text.empty() ? "free: " : ", ", human_bytes(*disk));
  }
  return text;
}

}  // namespace

std::vector<std::string> reading_plan(const config::DataConfig& data, uint64_t seed) {
  if (data.source != config::Source::kCsv || data::file_bytes(data) < kMinCachedBytes) return {};
  const std::optional<CacheKey> key = cache_key(data, seed);
  if (key && is_stored(*key)) return {};
  const data::TableSize size = data::table_size(data);
  const std::optional<uint64_t> disk = key ? free_space(key->folder) : std::nullopt;
  require_room(data, size, key, disk);
  std::vector<std::string> lines{human_bytes(size.file_bytes) + " of files"};
  if (size.num_rows > 0) {
    lines.front() += fmt::format(": {}, which take at least {} encoded", table_text(size),
                                 human_bytes(size.encoded_bytes));
  }
  lines.push_back(key ? "to be kept in " + key->folder.string() : "to be kept in memory");
  if (std::string text = free_text(disk); !text.empty()) lines.push_back(std::move(text));
  return lines;
}

}  // namespace trainer::cache
