// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
