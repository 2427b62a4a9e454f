// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "trainer/config/data_config.h"

namespace trainer::cache {

/// Tables of less are not kept with data.cache: auto; reading them takes less than half a second.
constexpr uint64_t kMinCachedBytes = uint64_t{32} << 20;

/// Where the data of a run are kept.
struct CacheKey {
  std::filesystem::path folder;
  /// All that they depend on, a line each: version of this program, seed, keys, files with their
  /// size and time of change.
  std::string text;
  uint64_t num_bytes = 0;  // of the files
};

/// Nothing for data that are not to be kept: data.cache is off, or auto and they are small, or
/// folds; no table of files; a file changed so lately that a change since might not be seen.
/// Throws Error(kData) for files that are not there.
std::optional<CacheKey> cache_key(const config::DataConfig& data, uint64_t seed);

/// Removes the caches in `folder` that no run has used for 30 days, and nothing else; those that
/// are in use now or cannot be removed stay. Returns "removed 2 that were not used for 30 days (1.9
/// GiB)", or nothing if there were none.
std::string remove_unused(const std::filesystem::path& folder);

}  // namespace trainer::cache
