// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "trainer/base/memory/array.h"
#include "trainer/table/source/data_file.h"
#include "trainer/table/table.h"

namespace trainer::data {

/// The content of one IDX file of unsigned bytes, the format of MNIST
/// (http://yann.lecun.com/exdb/mnist/): magic 0x0000080N, N big-endian 32-bit sizes, the bytes.
struct IdxFile {
  std::vector<int64_t> sizes;  // [N]
  Array<uint8_t> bytes;        // product of sizes, last dimension fastest
  Fingerprint fingerprint;     // of the file as it lies on the disk
};

/// Reads an IDX file, gzipped or plain (told by its first bytes, not by its name).
/// Throws Error(kData): missing or unreadable file, a folder, wrong magic, an element type other
/// than unsigned byte, truncated or damaged content, bytes after the end, sizes that do not match
/// the file. Memory is taken as content arrives, never because a header claims it.
IdxFile read_idx(const std::filesystem::path& path);
/// The same of a file, or a pipe, of which nothing was read yet.
IdxFile read_idx(DataFile file);

/// Reads images `[n, height, width]` (or `[n, features]`) and labels `[n]` into a table with byte
/// features named `pixel_<row>_<column>` (or `pixel_<column>`) and the target `label`. Table::file
/// is the label file.
/// Throws Error(kData) as read_idx does, and where the shapes do not fit together.
Table read_idx_pair(const std::filesystem::path& images, const std::filesystem::path& labels);

}  // namespace trainer::data
