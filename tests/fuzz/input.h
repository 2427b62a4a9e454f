// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "trainer/base/error.h"
#include "trainer/config/dump.h"

#include "support/temporary_folder.h"

// What the targets do with their bytes.
namespace trainer::fuzz {

/// Runs what reads the bytes, and may refuse them; an error of no kind is no refusal.
template <class Read>
void read_or_refuse(Read read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kRuntime) throw;
  }
}

/// Throws what nobody catches: something is wrong that no sanitizer sees.
inline void require(bool holds, const char* what) {
  if (!holds) throw std::logic_error(what);
}

/// Requires that a configuration that was written and loaded again is the same.
inline void require_same(const config::Config& written, const config::Config& loaded) {
  for (const config::Difference& difference : config::differences(written, loaded)) {
    throw std::logic_error(fmt::format("{}: {} was written, and means {}", difference.key,
                                       difference.before, difference.after));
  }
}

/// A folder of this process.
inline const test::TemporaryFolder& folder() {
  static const test::TemporaryFolder folder;
  return folder;
}

/// The first `most` bytes at most, which are taken away.
inline std::string_view take(std::string_view& bytes, std::size_t most) {
  const std::string_view first = bytes.substr(0, most);
  bytes.remove_prefix(first.size());
  return first;
}

/// What is before `separator`, which is taken away with it.
inline std::string_view take_part(std::string_view& bytes, char separator) {
  const std::string_view part = bytes.substr(0, bytes.find(separator));
  bytes.remove_prefix(std::min(bytes.size(), part.size() + 1));
  return part;
}

/// All parts between separators.
inline std::vector<std::string> parts_of(std::string_view bytes, char separator) {
  std::vector<std::string> parts;
  while (!bytes.empty()) parts.emplace_back(take_part(bytes, separator));
  return parts;
}

/// Choices that the first eight bytes make, which are taken away.
class Choices {
 public:
  explicit Choices(std::string_view& bytes) {
    for (const char byte : take(bytes, sizeof number_)) {
      number_ = number_ << 8U | static_cast<unsigned char>(byte);
    }
  }

  std::size_t below(std::size_t count) {
    const auto chosen = static_cast<std::size_t>(number_ % count);
    number_ /= count;
    return chosen;
  }

  bool coin() { return below(2) == 1; }

  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

 private:
  uint64_t number_ = 0;
};

}  // namespace trainer::fuzz
