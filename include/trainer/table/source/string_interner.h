// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trainer::data {

/// The different texts of a column, numbered in the order in which they come.
class StringInterner {
 public:
  /// The number of `text`, and whether it is a new one.
  std::pair<size_t, bool> intern(std::string_view text) {
    if (const std::optional<size_t> number = recent(text)) return {*number, false};
    auto found = numbers_.find(text);
    const bool is_new = found == numbers_.end();
    if (is_new) found = numbers_.emplace(text, numbers_.size()).first;
    if (is_short(text)) recent_[place_of(bytes_of(text))] = {bytes_of(text), found->second};
    return {found->second, is_new};
  }

  /// The number of `text` if it is short and came lately, which is quicker to find out.
  std::optional<size_t> recent(std::string_view text) const {
    if (!is_short(text)) return std::nullopt;
    const Bytes bytes = bytes_of(text);
    const Recent& candidate = recent_[place_of(bytes)];
    if (candidate.bytes != bytes) return std::nullopt;
    return candidate.number;
  }

  size_t size() const { return numbers_.size(); }
  /// Forgets all texts.
  void clear() {
    numbers_.clear();
    recent_.fill({});
  }

  /// The texts in their order; none are left here.
  std::vector<std::string> take() {
    std::vector<std::string> texts(numbers_.size());
    while (!numbers_.empty()) {
      auto node = numbers_.extract(numbers_.begin());
      texts[node.mapped()] = std::move(node.key());
    }
    recent_.fill({});
    return texts;
  }

 private:
  /// A short text: its size and up to 16 bytes, some of them twice. No two texts have the same.
  struct Bytes {
    uint64_t first = 0;
    uint64_t last = 0;
    size_t size = 0;

    bool operator==(const Bytes&) const = default;
  };
  struct Recent {
    Bytes bytes;
    size_t number = 0;
  };

  static bool is_short(std::string_view text) { return !text.empty() && text.size() <= 16; }

  template <class Word>
  static Bytes ends_of(std::string_view text) {
    Word first{};
    Word last{};
    std::memcpy(&first, &text.front(), sizeof(Word));
    std::memcpy(&last, &text[text.size() - sizeof(Word)], sizeof(Word));
    return {first, last, text.size()};
  }
  static Bytes bytes_of(std::string_view text) {
    if (text.size() >= sizeof(uint64_t)) return ends_of<uint64_t>(text);
    if (text.size() >= sizeof(uint32_t)) return ends_of<uint32_t>(text);
    Bytes bytes = ends_of<uint8_t>(text);
    bytes.first |= uint64_t{static_cast<uint8_t>(text[text.size() / 2])} << 8U;
    return bytes;
  }
  static size_t place_of(const Bytes& bytes) {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio
    return ((bytes.first ^ (bytes.last << 1U)) * kOdd) >> (64 - kRecentBits);
  }

  static constexpr unsigned kRecentBits = 6;
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
  };
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> numbers_;
  std::array<Recent, size_t{1} << kRecentBits> recent_{};
};

}  // namespace trainer::data
