// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainer::test {

/// An IDX file of bytes with these extents.
inline std::string idx_file(const std::vector<uint32_t>& sizes, std::string_view elements) {
  std::string content("\0\0\x08", 3);
  content += static_cast<char>(sizes.size());
  for (const uint32_t size : sizes) {
    for (const int shift : {24, 16, 8, 0}) content += static_cast<char>(size >> shift & 0xFF);
  }
  return content.append(elements);
}

}  // namespace trainer::test
