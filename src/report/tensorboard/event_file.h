// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

// The encoding of protocol buffers (protobuf.dev/programming-guides/encoding), as far as events
// need it.

namespace trainer::tensorboard {

/// A message that is being written, field by field.
class Message {
 public:
  Message& varint(int field, uint64_t value) {
    tag(field, 0);
    number(value);
    return *this;
  }
  Message& float64(int field, double value) {
    return fixed(field, 1, std::bit_cast<uint64_t>(value), 8);
  }
  Message& float32(int field, float value) {
    return fixed(field, 5, std::bit_cast<uint32_t>(value), 4);
  }
  Message& text(int field, std::string_view bytes) {
    tag(field, 2);
    number(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& message(int field, const Message& inner) { return text(field, inner.bytes_); }
  /// Writes a packed list of 64-bit floats.
  Message& float64s(int field, std::span<const double> values) {
    Message list;
    for (const double value : values) list.little_endian(std::bit_cast<uint64_t>(value), 8);
    return message(field, list);
  }

  const std::string& bytes() const { return bytes_; }

 private:
  void tag(int field, int type) { number(static_cast<uint64_t>(field << 3 | type)); }
  void number(uint64_t value) {
    constexpr uint64_t kMore = 0x80;
    for (; value >= kMore; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | kMore);
    bytes_ += static_cast<char>(value);
  }
  void little_endian(uint64_t value, int num_bytes) {
    for (int i = 0; i < num_bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  Message& fixed(int field, int type, uint64_t value, int num_bytes) {
    tag(field, type);
    little_endian(value, num_bytes);
    return *this;
  }

  std::string bytes_;
};

}  // namespace trainer::tensorboard
