// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "trainer/table/source/data_file.h"

#include "table/source/input_file.h"

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

/// What the files of NumPy begin with.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// An IEEE number of 16 bits: 1 sign, 5 exponent, 10 fraction.
struct Half {
  uint16_t bits = 0;

  float value() const;
};

/// The element in the bytes at `from`.
template <class T>
T element_at(const std::byte* from, bool is_swapped) {
  std::array<std::byte, sizeof(T)> bytes{};
  std::memcpy(bytes.data(), from, sizeof(T));
  if (is_swapped) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

/// Calls use(T()) with the type of the elements.
template <class Use>
void with_element_type(const NpyHeader& header, const Use& use) {
  const size_t bytes = header.bytes_per_element;
  if (header.kind == 'f') {
    if (bytes == 2) return use(Half());
    if (bytes == 4) return use(float());
    return use(double());
  }
  if (header.kind == 'i') {
    if (bytes == 1) return use(int8_t());
    if (bytes == 2) return use(int16_t());
    if (bytes == 4) return use(int32_t());
    return use(int64_t());
  }
  if (bytes == 1) return use(uint8_t());
  if (bytes == 2) return use(uint16_t());
  if (bytes == 4) return use(uint32_t());
  return use(uint64_t());
}

/// A shape as Python writes a list: "[3, 4]".
std::string shape_text(const std::vector<int64_t>& shape);

/// A file whose header fits its size.
class NpyReader {
 public:
  /// Throws Error(kData), see read_npy.
  explicit NpyReader(const std::filesystem::path& path);

  const NpyHeader& header() const { return header_; }
  int64_t num_rows() const { return header_.shape.front(); }
  int64_t num_elements() const { return num_elements_; }

  /// Calls store(position, element) for each element: `position` in C order, with a Half as a
  /// float.
  template <class Store>
  void for_each(const Store& store) {
    with_element_type(header_, [&](auto type) { read_elements<decltype(type)>(store); });
  }

  Fingerprint fingerprint() { return file_.fingerprint(); }

  [[noreturn]] void fail(const std::string& problem) const;

  /// Fails for the element at `position`, which is `got`.
  [[noreturn]] void fail_at(int64_t position, double got) const;

 private:
  static constexpr size_t kChunkBytes = size_t{1} << 20;  // a multiple of every element

  size_t read(std::span<std::byte> bytes);
  void read_header();
  void check_size();
  /// Where the columns of a file in Fortran order lie in C order: there the first index is the
  /// fastest, here the last.
  std::vector<int64_t> columns_in_c_order() const;

  template <class T, class Store>
  void read_elements(const Store& store) {
    const bool is_swapped = header_.is_big_endian != (std::endian::native == std::endian::big);
    const int64_t rows = num_rows();
    const int64_t width = num_elements_ / rows;
    const std::vector<int64_t> columns =
        header_.is_fortran_order ? columns_in_c_order() : std::vector<int64_t>();
    std::vector<std::byte> chunk(kChunkBytes);
    int64_t next = 0;
    while (next < num_elements_) {
      const size_t count = read(chunk) / sizeof(T);
      if (count == 0) fail("the file is truncated, download or copy it again");
      for (size_t i = 0; i < count && next < num_elements_; ++i, ++next) {
        const T element = element_at<T>(chunk.data() + i * sizeof(T), is_swapped);
        const int64_t position =
            columns.empty() ? next
                            : next % rows * width + columns[static_cast<size_t>(next / rows)];
        if constexpr (std::is_same_v<T, Half>) {
          store(position, element.value());
        } else {
          store(position, element);
        }
      }
    }
  }

  std::string name_;
  InputFile file_;
  uint64_t num_read_ = 0;  // bytes
  NpyHeader header_;
  int64_t num_elements_ = 0;
};

}  // namespace trainer::data
