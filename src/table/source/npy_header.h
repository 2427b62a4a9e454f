// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace trainer::data {

/// What a file of NumPy says of its array.
struct NpyHeader {
  char kind = 'f';  // f, i, u or b
  size_t bytes_per_element = 0;
  bool is_big_endian = false;
  bool is_fortran_order = false;
  std::vector<int64_t> shape;
};

/// Reads the text of a header, a literal of Python:
///   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
/// Throws std::invalid_argument with what was expected, what was got and what to do.
NpyHeader parse_npy_header(std::string_view text);

}  // namespace trainer::data
