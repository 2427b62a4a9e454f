// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "trainer/table/dataset.h"

#include "table/cached/cache_key.h"

/// A cache is a folder with two files: rows.bin, the arrays, and data.pt, everything else, which
/// torch.load opens. The second one is written last and names the size of the first, so that a
/// cache is there or not, whenever the program that writes it is killed.
namespace trainer::cache {

/// Whether the folder of `key` has data, of that key or another.
bool is_stored(const CacheKey& key);

/// The bytes of their rows, which are mapped; 0 if there are none.
uint64_t stored_bytes(const CacheKey& key);

/// The data that the folder of `key` has; nothing if there are none, or of another key. Throws
/// Error(kCheckpoint) if they are damaged.
std::optional<data::Datasets> read_datasets(const CacheKey& key);

/// Writes `datasets` to the folder of `key`, whose lock is held. Throws Error(kFileSystem).
void write_datasets(const CacheKey& key, const data::Datasets& datasets);

}  // namespace trainer::cache
