// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/base/io/atomic_file.h"

namespace trainer::archive {

// The subset of the zip format that torch.save uses, implemented in zip_writer.cpp and
// zip_reader.cpp.

/// The bytes of every record begin at a multiple of this, as in files of torch.save.
inline constexpr std::size_t kRecordAlignment = 64;

/// The smallest size or offset that does not fit into the 32-bit fields of a zip file.
inline constexpr uint64_t kZip64From = 0xFFFFFFFF;

/// Writes a zip file of stored (uncompressed) entries. It depends only on the names and bytes of
/// the entries.
///
///   ZipWriter zip(file);
///   zip.add("archive/version", bytes);
///   zip.finish();
///
/// `zip64_from`, for tests, is the size from which on the 64-bit fields are used.
class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& file, uint64_t zip64_from = kZip64From)
      : file_(file), zip64_from_(zip64_from) {}

  void add(std::string_view name, std::span<const std::byte> bytes);
  void finish();

 private:
  struct Entry {
    std::string name;
    uint64_t size = 0;
    uint64_t offset = 0;
    uint32_t crc = 0;
  };

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }
  bool is_large(uint64_t number) const { return number >= zip64_from_; }
  std::string local_header(const Entry& entry) const;
  std::string central_header(const Entry& entry) const;
  std::string end_of_directory(uint64_t directory_offset) const;

  AtomicFile& file_;
  uint64_t zip64_from_;
  uint64_t position_ = 0;
  std::vector<Entry> entries_;
};

/// The bytes of a record as text.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The bytes of each record by its name, both in the buffer of the file.
using ZipRecords = std::map<std::string_view, std::span<const std::byte>>;

/// Returns the records of `file`, a zip file of stored entries that ends with its directory. Every
/// offset and size is checked against the file before it is used, every record against its CRC-32;
/// records do not overlap, and names are unique. Throws Error(kCheckpoint), whose message begins
/// with `path`.
ZipRecords read_zip(std::span<const std::byte> file, const std::string& path);

}  // namespace trainer::archive
