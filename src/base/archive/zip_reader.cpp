// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/base/io/checksum.h"
#include "trainer/base/text/format.h"

#include "base/archive/zip.h"

namespace trainer::archive {
namespace {

class ZipReader {
 public:
  ZipReader(std::span<const std::byte> file, const std::string& path) : file_(file), path_(path) {}

  ZipRecords read();

 private:
  struct Directory {
    uint64_t offset = 0;
    uint64_t size = 0;
    uint64_t count = 0;
    bool operator==(const Directory&) const = default;
  };
  struct Entry {
    std::string_view name;
    uint16_t flags = 0;
    uint32_t crc = 0;
    uint64_t size = 0;
    uint64_t stored_size = 0;
    uint64_t offset = 0;
  };

  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail(const Entry& entry, const std::string& what) const;
  bool holds(uint64_t offset, uint64_t size) const {
    return offset <= file_.size() && size <= file_.size() - offset;
  }
  template <typename T>
  T get(uint64_t offset) const;
  std::string_view text(uint64_t offset, uint64_t size) const;

  Directory find_directory() const;
  std::optional<Directory> find_directory64(uint64_t end) const;
  void check_end(Directory small, uint64_t end, const std::optional<Directory>& large) const;
  Entry central_entry(uint64_t& position, uint64_t end) const;
  void widen(Entry& entry, std::string_view extra) const;
  std::span<const std::byte> record(const Entry& entry) const;
  void check_local_header(const Entry& entry) const;
  void check_crc(const Entry& entry, std::span<const std::byte> bytes) const;

  std::span<const std::byte> file_;
  const std::string& path_;
};

void ZipReader::fail(const std::string& what) const {
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: {}; the file is damaged or truncated, use an older checkpoint",
                          path_, what));
}

void ZipReader::fail(const Entry& entry, const std::string& what) const {
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: record {}: {}; the file is damaged, use an older checkpoint", path_,
                          in_quotes(entry.name), what));
}

// All numbers and texts are read by these two functions, which check that nothing is read beyond
// the end of the file.
template <typename T>
T ZipReader::get(uint64_t offset) const {
  if (!holds(offset, sizeof(T)))
    fail(fmt::format("a header at byte {} extends beyond the end", offset));
  T value;
  std::memcpy(&value, file_.data() + offset, sizeof(T));
  return value;
}

std::string_view ZipReader::text(uint64_t offset, uint64_t size) const {
  if (!holds(offset, size)) fail(fmt::format("a header at byte {} extends beyond the end", offset));
  return {reinterpret_cast<const char*>(file_.data()) + offset, static_cast<std::size_t>(size)};
}

ZipRecords ZipReader::read() {
  const Directory directory = find_directory();
  const uint64_t end = directory.offset + directory.size;
  ZipRecords records;
  uint64_t position = directory.offset;
  uint64_t total = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    const Entry entry = central_entry(position, end);
    const std::span<const std::byte> bytes = record(entry);
    // Overlapping records would let a small file take very long to read.
    total += bytes.size();
    if (total > file_.size()) fail(entry, "overlaps another record");
    check_crc(entry, bytes);
    if (!records.emplace(entry.name, bytes).second) fail(entry, "duplicate name");
  }
  if (position != end) fail("the zip directory has bytes that belong to no entry");
  return records;
}

// The end record must be at the end of the file (no comment), so that truncation is always noticed.
ZipReader::Directory ZipReader::find_directory() const {
  if (file_.size() < kEndSize || get<uint32_t>(file_.size() - kEndSize) != kEndSignature) {
    fail(fmt::format("expected the end of a zip directory in the last {} bytes, got something else",
                     kEndSize));
  }
  const uint64_t end = file_.size() - kEndSize;
  const Directory small{get<uint32_t>(end + 16), get<uint32_t>(end + 12), get<uint16_t>(end + 10)};
  const std::optional<Directory> large = find_directory64(end);
  check_end(small, end, large);
  const Directory directory = large.value_or(small);
  const uint64_t expected_end = large ? end - kLocatorSize - kEnd64Size : end;
  if (!holds(directory.offset, directory.size) ||
      directory.offset + directory.size != expected_end) {
    fail(fmt::format("expected a zip directory that ends at byte {}, got {} bytes from byte {}",
                     expected_end, directory.size, directory.offset));
  }
  return directory;
}

std::optional<ZipReader::Directory> ZipReader::find_directory64(uint64_t end) const {
  if (end < kLocatorSize + kEnd64Size) return std::nullopt;
  const uint64_t locator = end - kLocatorSize;
  if (get<uint32_t>(locator) != kLocatorSignature) return std::nullopt;
  const uint64_t position = locator - kEnd64Size;
  if (get<uint64_t>(locator + 8) != position || get<uint32_t>(position) != kEnd64Signature ||
      get<uint64_t>(position + 4) != kEnd64Size - 12 ||
      get<uint64_t>(position + 24) != get<uint64_t>(position + 32)) {
    fail("the zip64 end-of-directory record is invalid");
  }
  return Directory{get<uint64_t>(position + 48), get<uint64_t>(position + 40),
                   get<uint64_t>(position + 32)};
}

// Checks that `small`, from the 32-bit end record, agrees with `large`, from the 64-bit record, if
// that exists.
void ZipReader::check_end(Directory small, uint64_t end,
                          const std::optional<Directory>& large) const {
  const bool one_disk = get<uint32_t>(end + 4) == 0 &&
                        get<uint16_t>(end + 8) == get<uint16_t>(end + 10) &&
                        get<uint16_t>(end + 20) == 0;
  if (large) {
    if (small.count == kSee64Count) small.count = large->count;
    if (small.size == kIn64BitField) small.size = large->size;
    if (small.offset == kIn64BitField) small.offset = large->offset;
  }
  if (!one_disk || (large && small != *large)) fail("the end-of-directory record is invalid");
}

ZipReader::Entry ZipReader::central_entry(uint64_t& position, uint64_t end) const {
  if (end - position < kCentralSize || get<uint32_t>(position) != kCentralSignature) {
    fail(fmt::format("expected an entry of the zip directory at byte {}, got something else",
                     position));
  }
  const uint64_t name_size = get<uint16_t>(position + 28);
  const uint64_t extra_size = get<uint16_t>(position + 30);
  const uint64_t comment_size = get<uint16_t>(position + 32);
  const uint64_t size = kCentralSize + name_size + extra_size + comment_size;
  if (end - position < size) fail("an entry of the zip directory extends beyond its end");

  Entry entry;
  entry.name = text(position + kCentralSize, name_size);
  entry.flags = get<uint16_t>(position + 8);
  entry.crc = get<uint32_t>(position + 16);
  entry.stored_size = get<uint32_t>(position + 20);
  entry.size = get<uint32_t>(position + 24);
  entry.offset = get<uint32_t>(position + 42);
  widen(entry, text(position + kCentralSize + name_size, extra_size));
  const auto method = get<uint16_t>(position + 10);
  if (method != kStored || (entry.flags & kEncryptedFlag) != 0) {
    throw Error(ErrorKind::kCheckpoint,
                fmt::format("{}: record {}: expected uncompressed bytes, got {}; save the file "
                            "again with torch.save",
                            path_, in_quotes(entry.name),
                            method == kStored ? "encrypted data"
                                              : fmt::format("compression method {}", method)));
  }
  if (entry.size != entry.stored_size) fail(entry, "conflicting sizes");
  position += size;
  return entry;
}

// Reads the numbers that did not fit into 32 bits from the extra fields, in their fixed order.
void ZipReader::widen(Entry& entry, std::string_view extra) const {
  std::vector<uint64_t*> wide;
  for (uint64_t* number : {&entry.size, &entry.stored_size, &entry.offset}) {
    if (*number == kIn64BitField) wide.push_back(number);
  }
  while (!wide.empty()) {
    std::array<uint16_t, 2> header{};  // id, size
    if (extra.size() < sizeof(header)) fail(entry, "its 64-bit size is missing");
    std::memcpy(header.data(), extra.data(), sizeof(header));
    extra.remove_prefix(sizeof(header));
    if (header[1] > extra.size()) fail(entry, "an extra field extends beyond the end of its entry");
    if (header[0] != kExtra64) {
      extra.remove_prefix(header[1]);
      continue;
    }
    if (header[1] < wide.size() * sizeof(uint64_t)) fail(entry, "its 64-bit size is missing");
    for (std::size_t i = 0; i < wide.size(); ++i) {
      std::memcpy(wide[i], extra.data() + i * sizeof(uint64_t), sizeof(uint64_t));
    }
    return;
  }
}

std::span<const std::byte> ZipReader::record(const Entry& entry) const {
  if (!holds(entry.offset, kLocalSize) || get<uint32_t>(entry.offset) != kLocalSignature) {
    fail(entry, fmt::format("expected its header at byte {}, got something else", entry.offset));
  }
  check_local_header(entry);
  const uint64_t start = entry.offset + kLocalSize + get<uint16_t>(entry.offset + 26) +
                         get<uint16_t>(entry.offset + 28);
  if (!holds(start, entry.size)) {
    fail(entry, fmt::format("claims {} bytes from byte {} of a file of {} bytes", entry.size, start,
                            file_.size()));
  }
  return file_.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(entry.size));
}

// PyTorch writes zeros for CRC-32 and sizes here, and the values after the bytes; then the values
// in the directory are used.
void ZipReader::check_local_header(const Entry& entry) const {
  const auto agrees = [&](uint64_t offset, uint64_t expected) {
    const auto got = get<uint32_t>(entry.offset + offset);
    const bool later = (entry.flags & kSizesFollowFlag) != 0 && got == 0;
    return got == expected || later;
  };
  const auto size_agrees = [&](uint64_t offset) {
    return agrees(offset, entry.size) || get<uint32_t>(entry.offset + offset) == kIn64BitField;
  };
  const auto name_size = get<uint16_t>(entry.offset + 26);
  const bool same = get<uint16_t>(entry.offset + 6) == entry.flags &&
                    get<uint16_t>(entry.offset + 8) == kStored && agrees(14, entry.crc) &&
                    size_agrees(18) && size_agrees(22) &&
                    holds(entry.offset + kLocalSize, name_size) &&
                    text(entry.offset + kLocalSize, name_size) == entry.name;
  if (!same) fail(entry, "its header and the zip directory disagree");
}

void ZipReader::check_crc(const Entry& entry, std::span<const std::byte> bytes) const {
  const uint32_t crc = crc32(bytes);
  if (crc == entry.crc) return;
  fail(entry, fmt::format("the CRC-32 is {:#010x}, expected {:#010x}", crc, entry.crc));
}

}  // namespace

ZipRecords read_zip(std::span<const std::byte> file, const std::string& path) {
  return ZipReader(file, path).read();
}

}  // namespace trainer::archive
