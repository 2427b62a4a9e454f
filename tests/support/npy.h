// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace trainer::test {

/// The elements one after the other, in the byte order that is asked for.
template <class T>
std::string element_bytes(const std::vector<T>& elements, bool big_endian = false) {
  std::string bytes;
  for (const T element : elements) {
    std::string one(sizeof(T), '\0');
    std::memcpy(one.data(), &element, sizeof(T));
    if (big_endian != (std::endian::native == std::endian::big)) {
      std::reverse(one.begin(), one.end());
    }
    bytes += one;
  }
  return bytes;
}

/// An NPY file with that header text, padded as NumPy does it.
inline std::string npy_file(std::string header, const std::string& elements, int version = 1) {
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  header.resize((8 + length_bytes + header.size() + 64) / 64 * 64 - 8 - length_bytes - 1, ' ');
  header += '\n';
  const std::string length =
      element_bytes(std::vector<uint32_t>{static_cast<uint32_t>(header.size())});
  return "\x93NUMPY" + std::string{static_cast<char>(version), '\0'} +
         length.substr(0, length_bytes) + header + elements;
}

inline std::string npy_header(std::string_view type, std::string_view shape,
                              std::string_view fortran_order = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, fortran_order,
                     shape);
}

}  // namespace trainer::test
