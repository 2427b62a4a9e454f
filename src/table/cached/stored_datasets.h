// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "trainer/base/archive/dict_reader.h"
#include "trainer/base/archive/value.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/table/dataset.h"

#include "table/cached/cache_key.h"

/// A cache is a folder with two files: rows.bin, the arrays, and data.pt, everything else, which
/// torch.load opens. The second one is written last and names the size of the first, so that a
/// cache is there or not, whenever the program that writes it is killed. The arrays are one after
/// the other in the first, each from a whole page on, so that they can be mapped; their sizes,
/// places and checksums are in the second.

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

/// Writes the arrays of splits.
class RowWriter {
 public:
  explicit RowWriter(const std::filesystem::path& path) : file_(path) {}

  /// The entry that RowFile::dataset() asks for. Throws Error(kFileSystem).
  archive::Dict add(const data::Dataset& dataset);
  /// The last call. Returns the size of the file.
  int64_t finish();

 private:
  template <class T>
  archive::Value add(const Array<T>& array);

  AtomicFile file_;
  int64_t position_ = 0;
};

/// Such a file, mapped.
class RowFile {
 public:
  /// Throws Error(kCheckpoint) if it is missing, or not of that size.
  RowFile(const std::filesystem::path& path, int64_t num_bytes);

  /// The split of an entry; its rows are not checked yet (Dataset::checks). Throws
  /// Error(kCheckpoint) for an entry that does not fit to the file.
  data::Dataset dataset(const archive::DictReader& entry, int64_t num_classes) const;

 private:
  template <class T>
  Array<T> array(const archive::DictReader& entry, const char* name, int64_t num_rows,
                 int64_t width = 1) const;

  std::filesystem::path path_;
  std::shared_ptr<std::byte> bytes_;
  int64_t num_bytes_;
};

}  // namespace trainer::cache
