// SPDX-License-Identifier: Apache-2.0
// Each change of a data key, of the seed or of a file makes a new cache, as large as the table, and
// nobody thinks of the old ones. A run sets the time of the folder that it uses, see find() in
// load.cpp; a run that still has one mapped keeps its pages until it ends, as for any removed file.
#include "table/cached/remove_unused.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/folder_lock.h"
#include "trainer/base/text/format.h"

namespace trainer::cache {
namespace {

namespace fs = std::filesystem;

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
