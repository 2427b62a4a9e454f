// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/base/io/atomic_file.h"

// The constants of the zip format (APPNOTE.TXT of PKWARE, version 6.3), for the writer and the
// reader.

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

static_assert(std::endian::native == std::endian::little, "zip fields and tensors are copied raw");

inline constexpr uint32_t kLocalSignature = 0x04034B50;
inline constexpr uint32_t kCentralSignature = 0x02014B50;
inline constexpr uint32_t kEndSignature = 0x06054B50;
inline constexpr uint32_t kEnd64Signature = 0x06064B50;
inline constexpr uint32_t kLocatorSignature = 0x07064B50;

inline constexpr std::size_t kLocalSize = 30;
inline constexpr std::size_t kCentralSize = 46;
inline constexpr std::size_t kEndSize = 22;
inline constexpr std::size_t kEnd64Size = 56;
inline constexpr std::size_t kLocatorSize = 20;

inline constexpr uint16_t kVersion = 20;    // needed to read the file: 2.0
inline constexpr uint16_t kVersion64 = 45;  // version 4.5, needed for 64-bit fields
inline constexpr uint16_t kStored = 0;
inline constexpr uint16_t kMinDosDate = 0x21;  // 1 January 1980
inline constexpr uint16_t kEncryptedFlag = 1;
inline constexpr uint16_t kSizesFollowFlag = 8;  // sizes and CRC-32 follow the bytes
inline constexpr uint16_t kExtra64 = 0x0001;
inline constexpr uint16_t kExtraPadding = 0x4246;      // "FB", the padding field of PyTorch
inline constexpr uint32_t kIn64BitField = 0xFFFFFFFF;  // the value is in a 64-bit field
inline constexpr uint16_t kSee64Count = 0xFFFF;

}  // namespace trainer::archive
