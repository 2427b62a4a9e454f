// SPDX-License-Identifier: Apache-2.0
// The zip format: APPNOTE.TXT of PKWARE, version 6.3.
#include "archive/zip.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "trainer/core/checksum.h"
#include "trainer/core/error.h"
#include "trainer/core/text.h"

namespace trainer::archive {
namespace {

static_assert(std::endian::native == std::endian::little, "zip fields and tensors are copied raw");

constexpr uint32_t kLocalSignature = 0x04034B50;
constexpr uint32_t kCentralSignature = 0x02014B50;
constexpr uint32_t kEndSignature = 0x06054B50;
constexpr uint32_t kEnd64Signature = 0x06064B50;
constexpr uint32_t kLocatorSignature = 0x07064B50;

constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocatorSize = 20;

constexpr uint16_t kVersion = 20;    // what a reader must understand: 2.0
constexpr uint16_t kVersion64 = 45;  // 4.5, with 64-bit fields
constexpr uint16_t kStored = 0;
constexpr uint16_t kFirstJanuary1980 = 0x21;  // the least date there is
constexpr uint16_t kEncryptedFlag = 1;
constexpr uint16_t kSizesFollowFlag = 8;  // sizes and CRC-32 stand after the bytes, not before
constexpr uint16_t kExtra64 = 0x0001;
constexpr uint16_t kExtraPadding = 0x4246;  // "FB", PyTorch's own
constexpr uint32_t kSee64 = 0xFFFFFFFF;     // "the value stands in a 64-bit field"
constexpr uint16_t kSee64Count = 0xFFFF;

template <typename... Fields>
void put(std::string& out, Fields... fields) {
  (out.append(reinterpret_cast<const char*>(&fields), sizeof(fields)), ...);
}

uint16_t size16(std::string_view text) { return static_cast<uint16_t>(text.size()); }

// The extra field with those of `numbers` that do not fit into 32 bits.
std::string extra64(std::span<const uint64_t> numbers) {
  std::string extra;
  if (numbers.empty()) return extra;
  put(extra, kExtra64, static_cast<uint16_t>(numbers.size() * sizeof(uint64_t)));
  for (const uint64_t number : numbers) put(extra, number);
  return extra;
}

}  // namespace

void ZipWriter::write(std::span<const std::byte> bytes) {
  file_.write(bytes);
  position_ += bytes.size();
}

void ZipWriter::add(std::string_view name, std::span<const std::byte> bytes) {
  const Entry entry{std::string(name), bytes.size(), position_, crc32(bytes)};
  write(local_header(entry));
  write(bytes);
  entries_.push_back(entry);
}

void ZipWriter::finish() {
  const uint64_t directory_offset = position_;
  for (const Entry& entry : entries_) write(central_header(entry));
  write(end_of_directory(directory_offset));
}

std::string ZipWriter::local_header(const Entry& entry) const {
  const bool large = is_large(entry.size);
  std::string extra;
  if (large) extra = extra64(std::array{entry.size, entry.size});
  const uint64_t unpadded = entry.offset + kLocalSize + entry.name.size() + extra.size() + 4;
  const uint64_t padding = (kRecordAlignment - unpadded % kRecordAlignment) % kRecordAlignment;
  put(extra, kExtraPadding, static_cast<uint16_t>(padding));
  extra.append(padding, 'Z');

  const uint32_t size = large ? kSee64 : static_cast<uint32_t>(entry.size);
  std::string header;
  put(header, kLocalSignature, large ? kVersion64 : kVersion, uint16_t{0}, kStored, uint16_t{0},
      kFirstJanuary1980, entry.crc, size, size, size16(entry.name), size16(extra));
  return header + entry.name + extra;
}

std::string ZipWriter::central_header(const Entry& entry) const {
  const bool large = is_large(entry.size);
  const bool far = is_large(entry.offset);
  std::vector<uint64_t> numbers;
  if (large) numbers.assign(2, entry.size);
  if (far) numbers.push_back(entry.offset);
  const std::string extra = extra64(numbers);

  const uint16_t version = large || far ? kVersion64 : kVersion;
  const uint32_t size = large ? kSee64 : static_cast<uint32_t>(entry.size);
  const uint32_t offset = far ? kSee64 : static_cast<uint32_t>(entry.offset);
  std::string header;
  put(header, kCentralSignature, version, version, uint16_t{0}, kStored, uint16_t{0},
      kFirstJanuary1980, entry.crc, size, size, size16(entry.name), size16(extra), uint16_t{0},
      uint16_t{0}, uint16_t{0}, uint32_t{0}, offset);
  return header + entry.name + extra;
}

// As PyTorch, always with the 64-bit record: so it is read in every test, not once in years.
std::string ZipWriter::end_of_directory(uint64_t directory_offset) const {
  const uint64_t count = entries_.size();
  const uint64_t size = position_ - directory_offset;
  std::string end;
  put(end, kEnd64Signature, uint64_t{kEnd64Size - 12}, kVersion64, kVersion64, uint32_t{0},
      uint32_t{0}, count, count, size, directory_offset);
  put(end, kLocatorSignature, uint32_t{0}, position_, uint32_t{1});
  const auto count16 = static_cast<uint16_t>(std::min<uint64_t>(count, kSee64Count));
  const uint32_t size32 = is_large(size) ? kSee64 : static_cast<uint32_t>(size);
  const uint32_t offset32 =
      is_large(directory_offset) ? kSee64 : static_cast<uint32_t>(directory_offset);
  put(end, kEndSignature, uint16_t{0}, uint16_t{0}, count16, count16, size32, offset32,
      uint16_t{0});
  return end;
}

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
  void check_end(Directory directory, uint64_t end, const std::optional<Directory>& large) const;
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
              fmt::format("{}: {}; the file is damaged or cut short, take an older checkpoint",
                          path_, what));
}

void ZipReader::fail(const Entry& entry, const std::string& what) const {
  throw Error(ErrorKind::kCheckpoint,
              fmt::format("{}: record {}: {}; the file is damaged, take an older checkpoint", path_,
                          in_quotes(entry.name), what));
}

// Every number and text of the file is taken by these two, so nothing is read beyond its end.
template <typename T>
T ZipReader::get(uint64_t offset) const {
  if (!holds(offset, sizeof(T))) fail(fmt::format("a header at byte {} goes past the end", offset));
  T value;
  std::memcpy(&value, file_.data() + offset, sizeof(T));
  return value;
}

std::string_view ZipReader::text(uint64_t offset, uint64_t size) const {
  if (!holds(offset, size)) fail(fmt::format("a header at byte {} goes past the end", offset));
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
    // Records that share bytes would make a small file cost a long time.
    total += bytes.size();
    if (total > file_.size()) fail(entry, "overlaps another record");
    check_crc(entry, bytes);
    if (!records.emplace(entry.name, bytes).second) fail(entry, "the name stands twice");
  }
  if (position != end) fail("the zip directory has bytes that belong to no entry");
  return records;
}

// The end record has to be the last thing in the file (no comment): so a cut is always noticed.
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
    fail("the 64-bit end of the zip directory is wrong");
  }
  return Directory{get<uint64_t>(position + 48), get<uint64_t>(position + 40),
                   get<uint64_t>(position + 32)};
}

// `small` is what the 32-bit end record says; it has to agree with the 64-bit one where it can.
void ZipReader::check_end(Directory small, uint64_t end,
                          const std::optional<Directory>& large) const {
  const bool one_disk = get<uint32_t>(end + 4) == 0 &&
                        get<uint16_t>(end + 8) == get<uint16_t>(end + 10) &&
                        get<uint16_t>(end + 20) == 0;
  if (large) {
    if (small.count == kSee64Count) small.count = large->count;
    if (small.size == kSee64) small.size = large->size;
    if (small.offset == kSee64) small.offset = large->offset;
  }
  if (!one_disk || (large && small != *large)) fail("the end of the zip directory is wrong");
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
  if (end - position < size) fail("an entry of the zip directory goes past its end");

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
                fmt::format("{}: record {}: expected plain stored bytes, got {}; save the file "
                            "again with torch.save",
                            path_, in_quotes(entry.name),
                            method == kStored ? "encrypted ones"
                                              : fmt::format("compression method {}", method)));
  }
  if (entry.size != entry.stored_size) fail(entry, "two different sizes are claimed");
  position += size;
  return entry;
}

// Takes from the extra fields the numbers that did not fit into 32 bits, in their fixed order.
void ZipReader::widen(Entry& entry, std::string_view extra) const {
  std::vector<uint64_t*> wide;
  for (uint64_t* number : {&entry.size, &entry.stored_size, &entry.offset}) {
    if (*number == kSee64) wide.push_back(number);
  }
  while (!wide.empty()) {
    uint16_t header[2] = {};
    if (extra.size() < sizeof(header)) fail(entry, "its 64-bit size is missing");
    std::memcpy(header, extra.data(), sizeof(header));
    extra.remove_prefix(sizeof(header));
    if (header[1] > extra.size()) fail(entry, "an extra field goes past the end of its entry");
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

// PyTorch leaves CRC-32 and sizes at zero here and repeats them after the bytes; the directory is
// the authority then, and its CRC-32 covers the bytes.
void ZipReader::check_local_header(const Entry& entry) const {
  const auto agrees = [&](uint64_t offset, uint64_t expected) {
    const auto got = get<uint32_t>(entry.offset + offset);
    const bool later = (entry.flags & kSizesFollowFlag) != 0 && got == 0;
    return got == expected || later;
  };
  const auto size_agrees = [&](uint64_t offset) {
    return agrees(offset, entry.size) || get<uint32_t>(entry.offset + offset) == kSee64;
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
