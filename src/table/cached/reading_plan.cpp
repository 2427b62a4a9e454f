// SPDX-License-Identifier: Apache-2.0
#include "trainer/table/cached/reading_plan.h"

#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/memory/process_memory.h"
#include "trainer/base/text/format.h"
#include "trainer/config/data_config.h"
#include "trainer/table/source/table_size.h"

#include "table/cached/cache_key.h"
#include "table/cached/stored_datasets.h"

namespace trainer::cache {
namespace {

namespace fs = std::filesystem;

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
