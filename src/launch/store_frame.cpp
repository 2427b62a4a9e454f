// SPDX-License-Identifier: Apache-2.0
#include "launch/store_frame.h"

namespace trainer::launch {
namespace {

constexpr std::size_t kLengthBytes = 4;

void append_length(std::string& bytes, std::size_t length) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>(static_cast<uint32_t>(length) >> shift & 0xFFU);
  }
}

std::size_t length_at(std::string_view bytes) {
  uint32_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return length;
}

}  // namespace

std::string bytes_of(const Frame& frame) {
  std::size_t size = 0;
  for (const std::string& text : frame) size += kLengthBytes + text.size();
  std::string bytes;
  bytes.reserve(kLengthBytes + size);
  append_length(bytes, size);
  for (const std::string& text : frame) {
    append_length(bytes, text.size());
    bytes += text;
  }
  return bytes;
}

Arrival take_frame(std::string& bytes, std::size_t max_bytes, Frame& frame) {
  constexpr std::size_t kMaxTexts = 8;
  if (bytes.size() < kLengthBytes) return Arrival::kPart;
  const std::size_t size = length_at(bytes);
  if (size > max_bytes) return Arrival::kInvalid;
  if (bytes.size() < kLengthBytes + size) return Arrival::kPart;
  std::string_view rest = std::string_view(bytes).substr(kLengthBytes, size);
  frame.clear();
  while (!rest.empty()) {
    if (rest.size() < kLengthBytes || frame.size() == kMaxTexts) return Arrival::kInvalid;
    const std::size_t length = length_at(rest);
    rest.remove_prefix(kLengthBytes);
    if (length > rest.size()) return Arrival::kInvalid;
    frame.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  bytes.erase(0, kLengthBytes + size);
  return frame.empty() ? Arrival::kInvalid : Arrival::kFrame;
}

}  // namespace trainer::launch
