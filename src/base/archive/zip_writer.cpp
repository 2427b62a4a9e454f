// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "trainer/base/io/checksum.h"

#include "base/archive/zip.h"

namespace trainer::archive {
namespace {

template <typename... Fields>
void put(std::string& out, Fields... fields) {
  (out.append(reinterpret_cast<const char*>(&fields), sizeof(fields)), ...);
}

uint16_t size16(std::string_view text) { return static_cast<uint16_t>(text.size()); }

// Returns the extra field for numbers that do not fit into 32 bits; empty if there are none.
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
  const Entry entry{
      .name = std::string(name), .size = bytes.size(), .offset = position_, .crc = crc32(bytes)};
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

  const uint32_t size = large ? kIn64BitField : static_cast<uint32_t>(entry.size);
  std::string header;
  put(header, kLocalSignature, large ? kVersion64 : kVersion, uint16_t{0}, kStored, uint16_t{0},
      kMinDosDate, entry.crc, size, size, size16(entry.name), size16(extra));
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
  const uint32_t size = large ? kIn64BitField : static_cast<uint32_t>(entry.size);
  const uint32_t offset = far ? kIn64BitField : static_cast<uint32_t>(entry.offset);
  std::string header;
  put(header, kCentralSignature, version, version, uint16_t{0}, kStored, uint16_t{0}, kMinDosDate,
      entry.crc, size, size, size16(entry.name), size16(extra), uint16_t{0}, uint16_t{0},
      uint16_t{0}, uint32_t{0}, offset);
  return header + entry.name + extra;
}

// Always writes the 64-bit record, as PyTorch does, so that every test covers it.
std::string ZipWriter::end_of_directory(uint64_t directory_offset) const {
  const uint64_t count = entries_.size();
  const uint64_t size = position_ - directory_offset;
  std::string end;
  put(end, kEnd64Signature, uint64_t{kEnd64Size - 12}, kVersion64, kVersion64, uint32_t{0},
      uint32_t{0}, count, count, size, directory_offset);
  put(end, kLocatorSignature, uint32_t{0}, position_, uint32_t{1});
  const auto count16 = static_cast<uint16_t>(std::min<uint64_t>(count, kSee64Count));
  const uint32_t size32 = is_large(size) ? kIn64BitField : static_cast<uint32_t>(size);
  const uint32_t offset32 =
      is_large(directory_offset) ? kIn64BitField : static_cast<uint32_t>(directory_offset);
  put(end, kEndSignature, uint16_t{0}, uint16_t{0}, count16, count16, size32, offset32,
      uint16_t{0});
  return end;
}

}  // namespace trainer::archive
