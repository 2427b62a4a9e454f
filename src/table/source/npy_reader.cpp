// SPDX-License-Identifier: Apache-2.0
#include "table/source/npy_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "trainer/base/text/format.h"

#include "table/error.h"
#include "table/source/input_file.h"

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

namespace {

/// Reads the few literals of Python that a header has.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NpyHeader read() {
    NpyHeader header;
    std::optional<std::string> type;
    std::optional<bool> is_fortran_order;
    std::optional<std::vector<int64_t>> shape;
    expect('{');
    while (!take('}')) {
      const std::string key = read_text();
      expect(':');
      if (key == "descr") {
        if (peek() == '[' || peek() == '(') refuse_type("structured");
        type = read_text();
      } else if (key == "fortran_order") {
        is_fortran_order = read_bool();
      } else if (key == "shape") {
        shape = read_sizes();
      } else {
        fail(fmt::format("an unknown entry {}", in_quotes(key)));
      }
      if (peek() != '}') expect(',');
    }
    if (!at_end()) fail("text after the closing } of the header");
    if (!type || !is_fortran_order || !shape) fail("missing descr, fortran_order or shape");
    set_type(*type, header);
    header.is_fortran_order = *is_fortran_order;
    header.shape = std::move(*shape);
    return header;
  }

 private:
  [[noreturn]] static void fail(const std::string& got) {
    throw std::invalid_argument(
        fmt::format("damaged header: expected a dict of descr, fortran_order and shape, got {}; "
                    "save the file again with numpy.save",
                    got));
  }

  [[noreturn]] static void refuse_type(const std::string& type) {
    throw std::invalid_argument(
        fmt::format("the elements are {}; expected float16 to float64, integers or bool: save "
                    "array.astype('float32')",
                    type));
  }

  bool at_end() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) {
      text_.remove_prefix(1);
    }
    return text_.empty();
  }

  char peek() { return at_end() ? '\0' : text_.front(); }

  bool take(char c) {
    if (peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!take(c)) fail(at_end() ? "its end" : in_quotes(std::string(text_.substr(0, 20))));
  }

  std::string read_text() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') expect('\'');
    text_.remove_prefix(1);
    const size_t end = text_.find(quote);
    if (end == std::string_view::npos) fail("unterminated string");
    std::string text(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return text;
  }

  bool read_bool() {
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (peek() != word.front() || !text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    fail("expected True or False for fortran_order");
  }

  std::vector<int64_t> read_sizes() {
    std::vector<int64_t> sizes;
    expect('(');
    while (!take(')')) {
      int64_t size = -1;
      peek();
      const auto [end, problem] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (problem != std::errc() || size < 0) fail("no size in shape");
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      sizes.push_back(size);
      if (peek() != ')') expect(',');
    }
    return sizes;
  }

  static void set_type(const std::string& type, NpyHeader& header) {
    struct Known {
      char kind;
      size_t bytes;
    };
    constexpr std::array<Known, 12> kKnown = {{{'f', 2},
                                               {'f', 4},
                                               {'f', 8},
                                               {'i', 1},
                                               {'i', 2},
                                               {'i', 4},
                                               {'i', 8},
                                               {'u', 1},
                                               {'u', 2},
                                               {'u', 4},
                                               {'u', 8},
                                               {'b', 1}}};
    const bool has_order =
        type.size() == 3 && std::string_view("<>|=").find(type[0]) != std::string_view::npos;
    const char kind = has_order ? type[1] : '\0';
    const auto bytes = has_order ? static_cast<size_t>(type[2] - '0') : 0;
    const auto fits = [&](const Known& k) { return k.kind == kind && k.bytes == bytes; };
    if (std::none_of(kKnown.begin(), kKnown.end(), fits)) refuse_type(type_name(type));
    header.kind = kind;
    header.bytes_per_element = bytes;
    header.is_big_endian = type[0] == '>';
  }

  static std::string type_name(const std::string& type) {
    const char kind = type.size() < 2 ? '\0' : type[1];
    const char* name = kind == 'O'                  ? "pickled Python objects"
                       : kind == 'c'                ? "complex numbers"
                       : kind == 'U' || kind == 'S' ? "strings"
                       : kind == 'M' || kind == 'm' ? "dates or times"
                       : kind == 'V'                ? "structured"
                                                    : "of an unknown type";
    return fmt::format("{} ({})", name, in_quotes(type));
  }

  std::string_view text_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) { return Parser(text).read(); }

}  // namespace trainer::data
