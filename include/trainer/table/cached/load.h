// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/table/dataset.h"

namespace trainer::config {
struct Config;
}

namespace trainer::cache {

/// What data::load_datasets() returns, for a table of files as data.cache says: mapped from the
/// folder where an earlier call with the same files, keys of `data` and `seed` has left it, or read
/// and left there. Processes that need the same at once make it once. Files are the same if path,
/// size and time of the last change are. A cache that is damaged is made again; where none can be
/// written, or `trained` is not what it has, the data are read. Datasets::cache and warnings say
/// which. Rows of a cache are compared with their checksums when they are used (Dataset::checks).
/// Throws as data::load_datasets(), and Error(kData) for a file that changes meanwhile.
data::Datasets load(const config::DataConfig& data, uint64_t seed,
                    const data::Schema* trained = nullptr);

/// What load() returns for the data and seed of a run, with reading_plan() in the log before.
data::Datasets load_for_run(const config::Config& config, const data::Schema* trained);

/// What data::load_datasets() returns. Of a table that load() would keep, large arrays are in files
/// without names beside the caches, so that memory does not grow with the rows; nothing stays
/// there.
data::Datasets load_once(const config::DataConfig& data, uint64_t seed);

}  // namespace trainer::cache

namespace trainer::config {
struct DataConfig;
}

namespace trainer::cache {

/// What reading a large table will take, before it is read: how many rows and bytes it has, what it
/// will need encoded and where that will be, and what is free there. A line each; none where there
/// is nothing to say: small tables, other sources, and what a cache has already. Throws
/// Error(kOutOfMemory) for a table that neither the memory of this machine nor the disk of its
/// cache can hold; Error(kData) for a bad header.
std::vector<std::string> reading_plan(const config::DataConfig& data, uint64_t seed);

}  // namespace trainer::cache
