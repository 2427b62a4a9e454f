// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "trainer/base/archive/dict_reader.h"
#include "trainer/base/archive/value.h"
#include "trainer/base/io/atomic_file.h"
#include "trainer/table/dataset.h"

/// The arrays of a cache: one after the other in one file, each from a whole page on, so that they
/// can be mapped. Sizes, places and checksums are in another file.
namespace trainer::cache {

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
