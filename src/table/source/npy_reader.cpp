// SPDX-License-Identifier: Apache-2.0
#include "table/source/npy_reader.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/text/format.h"

#include "table/error.h"
#include "table/source/file_kinds.h"

namespace trainer::data {
std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

float Half::value() const {
  constexpr int kBias = 15;
  constexpr int kFractionBits = 10;
  const int exponent = bits >> kFractionBits & 31;
  const auto fraction = static_cast<float>(bits & 1023) / 1024;
  float size = 0;
  if (exponent == 31) {
    size = fraction == 0 ? std::numeric_limits<float>::infinity()
                         : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    size = std::ldexp(fraction, 1 - kBias);
  } else {
    size = std::ldexp(1 + fraction, exponent - kBias);
  }
  return bits >> 15 == 0 ? size : -size;
}

NpyReader::NpyReader(const std::filesystem::path& path) : name_(path.string()), file_(path) {
  read_header();
  check_size();
}

void NpyReader::fail(const std::string& problem) const { throw data_error(name_, problem); }

void NpyReader::fail_at(int64_t position, double got) const {
  std::vector<int64_t> index = header_.shape;
  for (size_t i = index.size(); i-- > 0;) {
    index[i] = position % header_.shape[i];
    position /= header_.shape[i];
  }
  fail(fmt::format(
      "element {}: expected a finite float32 number, got {}; correct it or remove its row",
      shape_text(index), got));
}

size_t NpyReader::read(std::span<std::byte> bytes) {
  const size_t count = file_.read(bytes);
  num_read_ += count;
  return count;
}

void NpyReader::read_header() {
  std::array<std::byte, 8> start{};
  const size_t count = read(start);
  if (count == 0) fail("the file is empty");
  if (count < start.size() || std::memcmp(start.data(), kNpyMagic.data(), kNpyMagic.size()) != 0) {
    if (count >= 2 && start[0] != std::byte{'P'})
      require_no_other_kind(std::filesystem::path(name_));
    const bool is_zip = start[0] == std::byte{'P'} && start[1] == std::byte{'K'};
    fail(is_zip ? "is a NumPy archive (.npz); save the array itself with numpy.save"
                : "not a .npy file: it does not start with 93 4e 55 4d 50 59 (\\x93NUMPY); save "
                  "the array with numpy.save");
  }
  const auto version = std::to_integer<int>(start[6]);
  if (version < 1 || version > 3) {
    fail(fmt::format("expected format version 1, 2 or 3, got {}; save it again with numpy.save",
                     version));
  }
  std::array<std::byte, 4> size{};
  const auto size_bytes = std::span(size).first(version == 1 ? 2 : 4);
  if (read(size_bytes) < size_bytes.size())
    fail("the file ends within its header; it is truncated");
  const auto length = element_at<uint32_t>(size.data(), std::endian::native == std::endian::big);
  if (length > file_.size_hint() - std::min(num_read_, file_.size_hint())) {
    fail("the file ends within its header; download or copy it again");
  }
  std::string text(length, '\0');
  if (read(std::as_writable_bytes(std::span(text))) < text.size()) {
    fail("the file ends within its header; download or copy it again");
  }
  try {
    header_ = parse_npy_header(text);
  } catch (const std::invalid_argument& problem) {
    fail(problem.what());
  }
}

void NpyReader::check_size() {
  if (header_.shape.empty()) fail("expected an array, got a scalar");
  uint64_t product = 1;
  for (const int64_t size : header_.shape) {
    const auto factor = static_cast<uint64_t>(size);
    if (factor != 0 && product > std::numeric_limits<int64_t>::max() / (8 * factor)) {
      fail("invalid shape " + shape_text(header_.shape));
    }
    product *= factor;
  }
  if (product == 0) fail("no elements: the shape is " + shape_text(header_.shape));
  num_elements_ = static_cast<int64_t>(product);
  const uint64_t expected = product * header_.bytes_per_element;
  const uint64_t got = file_.size_hint() - std::min(num_read_, file_.size_hint());
  if (got == expected) return;
  fail(fmt::format("expected {} bytes of elements (shape {}), got {}; {}",
                   with_thousands(static_cast<int64_t>(expected)), shape_text(header_.shape),
                   with_thousands(static_cast<int64_t>(got)),
                   got < expected ? "the file is truncated, download or copy it again"
                                  : "save one array per file with numpy.save"));
}

std::vector<int64_t> NpyReader::columns_in_c_order() const {
  const std::vector<int64_t>& shape = header_.shape;
  std::vector<int64_t> columns(static_cast<size_t>(num_elements_ / num_rows()));
  for (size_t i = 0; i < columns.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    auto stride = static_cast<int64_t>(columns.size());
    for (size_t axis = 1; axis < shape.size(); ++axis) {
      stride /= shape[axis];
      columns[i] += rest % shape[axis] * stride;
      rest /= shape[axis];
    }
  }
  return columns;
}

}  // namespace trainer::data
